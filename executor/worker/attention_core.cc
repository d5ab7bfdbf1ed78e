#include "executor/worker/attention_core.h"

#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/empty.h>

#include <tuple>

namespace meshwright {
namespace {

// Query heads `member`, `member` + group, ... of [batch, seq_len, heads, head_dim]: one for every
// key/value head.
at::Tensor GroupMember(const AttentionShape& shape, const at::Tensor& heads, int64_t member) {
  if (shape.group() == 1) return heads;
  return heads.slice(2, member, shape.heads, shape.group());
}

// ATen wants [batch, heads, seq_len, head_dim].
at::Tensor HeadsFirst(const at::Tensor& tensor) { return tensor.transpose(1, 2); }

struct CoreForward {
  at::Tensor output;  // heads first
  AttentionStatistics statistics;
};

CoreForward Forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  if (q.is_cpu()) {
    auto [output, log_sum_exp] = at::_scaled_dot_product_flash_attention_for_cpu(
        HeadsFirst(q), HeadsFirst(k), HeadsFirst(v), /*dropout_p=*/0.0, /*is_causal=*/true);
    return {.output = std::move(output),
            .statistics = {
                .log_sum_exp = std::move(log_sum_exp), .random_seed = {}, .random_offset = {}}};
  }
  auto [output, log_sum_exp, seed, offset] = at::_scaled_dot_product_efficient_attention(
      HeadsFirst(q), HeadsFirst(k), HeadsFirst(v), /*attn_bias=*/{}, /*compute_log_sumexp=*/true,
      /*dropout_p=*/0.0, /*is_causal=*/true);
  return {.output = std::move(output),
          .statistics = {.log_sum_exp = std::move(log_sum_exp),
                         .random_seed = std::move(seed),
                         .random_offset = std::move(offset)}};
}

struct CoreGradient {
  at::Tensor q;  // all [batch, seq_len, heads, head_dim]
  at::Tensor k;
  at::Tensor v;
};

CoreGradient Backward(const at::Tensor& doutput, const at::Tensor& q, const at::Tensor& k,
                      const at::Tensor& v, const at::Tensor& output,
                      const AttentionStatistics& statistics) {
  if (q.is_cpu()) {
    auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        HeadsFirst(doutput), HeadsFirst(q), HeadsFirst(k), HeadsFirst(v), HeadsFirst(output),
        statistics.log_sum_exp, /*dropout_p=*/0.0, /*is_causal=*/true);
    return {.q = HeadsFirst(dq), .k = HeadsFirst(dk), .v = HeadsFirst(dv)};
  }
  auto gradients = at::_scaled_dot_product_efficient_attention_backward(
      HeadsFirst(doutput), HeadsFirst(q), HeadsFirst(k), HeadsFirst(v), /*attn_bias=*/{},
      HeadsFirst(output), statistics.log_sum_exp, statistics.random_seed, statistics.random_offset,
      /*dropout_p=*/0.0, {true, true, true, false}, /*is_causal=*/true);
  return {.q = HeadsFirst(std::get<0>(gradients)),
          .k = HeadsFirst(std::get<1>(gradients)),
          .v = HeadsFirst(std::get<2>(gradients))};
}

}  // namespace

AttentionResult AttentionForward(const AttentionShape& shape, const at::Tensor& q,
                                 const at::Tensor& k, const at::Tensor& v) {
  const int64_t tokens = shape.batch * shape.seq_len;
  const int64_t width = shape.heads * shape.head_dim;
  AttentionResult result;
  if (shape.group() == 1) {
    CoreForward core = Forward(q, k, v);
    result.output = HeadsFirst(core.output).reshape({tokens, width});
    result.statistics.push_back(std::move(core.statistics));
    return result;
  }
  result.output = at::empty({tokens, width}, q.options());
  const at::Tensor heads =
      result.output.view({shape.batch, shape.seq_len, shape.heads, shape.head_dim});
  for (int64_t member = 0; member < shape.group(); ++member) {
    CoreForward core = Forward(GroupMember(shape, q, member), k, v);
    GroupMember(shape, heads, member).copy_(HeadsFirst(core.output));
    result.statistics.push_back(std::move(core.statistics));
  }
  return result;
}

AttentionGradient AttentionBackward(const AttentionShape& shape, const at::Tensor& doutput,
                                    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const AttentionResult& forward) {
  const at::IntArrayRef heads_shape = q.sizes();
  const at::Tensor dheads = doutput.view(heads_shape);
  const at::Tensor heads = forward.output.view(heads_shape);
  AttentionGradient gradient;
  for (int64_t member = 0; member < shape.group(); ++member) {
    CoreGradient core =
        Backward(GroupMember(shape, dheads, member), GroupMember(shape, q, member), k, v,
                 GroupMember(shape, heads, member), forward.statistics[member]);
    gradient.q.push_back(std::move(core.q));
    if (member == 0) {
      gradient.k = std::move(core.k);
      gradient.v = std::move(core.v);
    } else {
      gradient.k.add_(core.k);
      gradient.v.add_(core.v);
    }
  }
  return gradient;
}

}  // namespace meshwright

#include "executor/worker/attention_kernel.h"

#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>

#include <tuple>

namespace meshwright {
namespace {

// ATen wants [batch, heads, seq_len, head_dim].
at::Tensor HeadsFirst(const at::Tensor& tensor) { return tensor.transpose(1, 2); }

}  // namespace

AttendedHeads AttendForward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            bool causal) {
  if (q.is_cpu()) {
    auto [output, log_sum_exp] = at::_scaled_dot_product_flash_attention_for_cpu(
        HeadsFirst(q), HeadsFirst(k), HeadsFirst(v), /*dropout_p=*/0.0, causal);
    return {.output = HeadsFirst(output),
            .statistics = {
                .log_sum_exp = std::move(log_sum_exp), .random_seed = {}, .random_offset = {}}};
  }
  auto [output, log_sum_exp, seed, offset] = at::_scaled_dot_product_efficient_attention(
      HeadsFirst(q), HeadsFirst(k), HeadsFirst(v), /*attn_bias=*/{}, /*compute_log_sumexp=*/true,
      /*dropout_p=*/0.0, causal);
  return {.output = HeadsFirst(output),
          .statistics = {.log_sum_exp = std::move(log_sum_exp),
                         .random_seed = std::move(seed),
                         .random_offset = std::move(offset)}};
}

AttendedGradient AttendBackward(const at::Tensor& doutput, const at::Tensor& q, const at::Tensor& k,
                                const at::Tensor& v, const at::Tensor& output,
                                const AttentionStatistics& statistics, bool causal) {
  if (q.is_cpu()) {
    auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        HeadsFirst(doutput), HeadsFirst(q), HeadsFirst(k), HeadsFirst(v), HeadsFirst(output),
        statistics.log_sum_exp, /*dropout_p=*/0.0, causal);
    return {.q = HeadsFirst(dq), .k = HeadsFirst(dk), .v = HeadsFirst(dv)};
  }
  auto gradients = at::_scaled_dot_product_efficient_attention_backward(
      HeadsFirst(doutput), HeadsFirst(q), HeadsFirst(k), HeadsFirst(v), /*attn_bias=*/{},
      HeadsFirst(output), statistics.log_sum_exp, statistics.random_seed, statistics.random_offset,
      /*dropout_p=*/0.0, {true, true, true, false}, causal);
  return {.q = HeadsFirst(std::get<0>(gradients)),
          .k = HeadsFirst(std::get<1>(gradients)),
          .v = HeadsFirst(std::get<2>(gradients))};
}

}  // namespace meshwright

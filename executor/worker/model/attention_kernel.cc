#include "executor/worker/model/attention_kernel.h"

#include <ATen/ops/_flash_attention_backward.h>
#include <ATen/ops/_flash_attention_forward.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_backward.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace meshwright::worker {
namespace {

constexpr double kNoDropout = 0.0;

// Memory-efficient attention pads the length of its log-sum-exp to a multiple of this.
constexpr int64_t kEfficientAlignment = 32;

// ATen expects [batch, heads, seq_len, head_dim].
at::Tensor HeadsFirst(const at::Tensor& tensor) { return tensor.transpose(1, 2); }

AttendedGradient HeadsSecond(const std::tuple<at::Tensor, at::Tensor, at::Tensor>& gradients) {
  return {.q = HeadsFirst(std::get<0>(gradients)),
          .k = HeadsFirst(std::get<1>(gradients)),
          .v = HeadsFirst(std::get<2>(gradients))};
}

// All with heads first.
struct Operands {
  at::Tensor q;
  at::Tensor k;
  at::Tensor v;
};

std::optional<at::Tensor> MaskOf(const KeySight& sight) {
  if (!sight.mask.defined()) return std::nullopt;
  return sight.mask;
}

AttendedHeads CpuFlashForward(const Operands& in, const KeySight& sight) {
  auto [output, log_sum_exp] = at::_scaled_dot_product_flash_attention_for_cpu(
      in.q, in.k, in.v, kNoDropout, sight.causal, MaskOf(sight));
  return {.output = HeadsFirst(output),
          .statistics = {
              .log_sum_exp = std::move(log_sum_exp), .random_seed = {}, .random_offset = {}}};
}

AttendedHeads FlashForward(const Operands& in, bool causal) {
  auto result = at::_scaled_dot_product_flash_attention(in.q, in.k, in.v, kNoDropout, causal);
  return {.output = HeadsFirst(std::get<0>(result)),
          .statistics = {.log_sum_exp = std::get<1>(result),
                         .random_seed = std::get<6>(result),
                         .random_offset = std::get<7>(result)}};
}

// The queries from `begin` on, and the keys that they see.
struct BandQueries {
  int64_t begin;
  int64_t count;
  planner::KeyBand band;
};

// Returns the kernel's calls for `queries` on `keys`. The kernel clamps `newer` to the number of
// keys, which would hide keys from queries that are further than that from the last one.
std::vector<BandQueries> BandCalls(int64_t queries, int64_t keys, planner::KeyBand band) {
  std::vector<BandQueries> calls;
  while (queries > keys && band.newer >= keys) {
    queries -= keys;
    calls.push_back({.begin = queries, .count = keys, .band = band});
    band = {.older = band.older + keys, .newer = band.newer - keys};
  }
  calls.push_back({.begin = 0, .count = queries, .band = band});
  std::reverse(calls.begin(), calls.end());
  return calls;
}

// Tokens before heads, as in the caller.
AttendedHeads OneBandForward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const planner::KeyBand& band) {
  auto result = at::_flash_attention_forward(q, k, v, /*cum_seq_q=*/{}, /*cum_seq_k=*/{},
                                             /*max_q=*/q.size(1), /*max_k=*/k.size(1), kNoDropout,
                                             /*is_causal=*/false, /*return_debug_mask=*/false,
                                             /*scale=*/{}, band.older, band.newer);
  return {.output = std::get<0>(result),
          .statistics = {.log_sum_exp = std::get<1>(result),
                         .random_seed = std::get<2>(result),
                         .random_offset = std::get<3>(result)}};
}

AttendedHeads BandForward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const planner::KeyBand& band) {
  const std::vector<BandQueries> calls = BandCalls(q.size(1), k.size(1), band);
  if (calls.size() == 1) return OneBandForward(q, k, v, band);
  AttendedHeads last;
  std::vector<at::Tensor> outputs;
  std::vector<at::Tensor> log_sum_exps;
  for (const BandQueries& call : calls) {
    last = OneBandForward(q.narrow(1, call.begin, call.count), k, v, call.band);
    outputs.push_back(last.output);
    log_sum_exps.push_back(last.statistics.log_sum_exp);
  }
  last.output = at::cat(outputs, 1);
  last.statistics.log_sum_exp = at::cat(log_sum_exps, 2);
  return last;
}

AttendedGradient OneBandBackward(const at::Tensor& doutput, const at::Tensor& q,
                                 const at::Tensor& k, const at::Tensor& v, const at::Tensor& output,
                                 const at::Tensor& log_sum_exp,
                                 const AttentionStatistics& statistics,
                                 const planner::KeyBand& band) {
  auto [dq, dk, dv] = at::_flash_attention_backward(
      doutput, q, k, v, output, log_sum_exp.contiguous(), /*cum_seq_q=*/{}, /*cum_seq_k=*/{},
      /*max_q=*/q.size(1), /*max_k=*/k.size(1), kNoDropout, /*is_causal=*/false,
      statistics.random_seed, statistics.random_offset, /*scale=*/{}, band.older, band.newer);
  return {.q = std::move(dq), .k = std::move(dk), .v = std::move(dv)};
}

AttendedGradient BandBackward(const at::Tensor& doutput, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const at::Tensor& output,
                              const AttentionStatistics& statistics, const planner::KeyBand& band) {
  AttendedGradient gradient;
  std::vector<at::Tensor> dqs;
  for (const BandQueries& call : BandCalls(q.size(1), k.size(1), band)) {
    const auto part = [&](const at::Tensor& tensor) {
      return tensor.narrow(1, call.begin, call.count);
    };
    AttendedGradient of_call = OneBandBackward(
        part(doutput), part(q), k, v, part(output),
        statistics.log_sum_exp.narrow(2, call.begin, call.count), statistics, call.band);
    dqs.push_back(std::move(of_call.q));
    gradient.k = gradient.k.defined() ? gradient.k.add_(of_call.k) : std::move(of_call.k);
    gradient.v = gradient.v.defined() ? gradient.v.add_(of_call.v) : std::move(of_call.v);
  }
  gradient.q = dqs.size() == 1 ? std::move(dqs.front()) : at::cat(dqs, 1);
  return gradient;
}

AttendedHeads CudnnForward(const Operands& in, bool causal) {
  auto result = at::_scaled_dot_product_cudnn_attention(
      in.q, in.k, in.v, /*attn_bias=*/{}, /*compute_log_sumexp=*/true, kNoDropout, causal);
  // [batch, heads, queries, 1]
  return {.output = HeadsFirst(std::get<0>(result)),
          .statistics = {.log_sum_exp = std::get<1>(result).squeeze(3),
                         .random_seed = std::get<6>(result),
                         .random_offset = std::get<7>(result)}};
}

AttendedHeads EfficientForward(const Operands& in, bool causal) {
  auto [output, log_sum_exp, seed, offset] = at::_scaled_dot_product_efficient_attention(
      in.q, in.k, in.v, /*attn_bias=*/{}, /*compute_log_sumexp=*/true, kNoDropout, causal);
  return {.output = HeadsFirst(output),
          .statistics = {.log_sum_exp = log_sum_exp.narrow(2, 0, in.q.size(2)),
                         .random_seed = std::move(seed),
                         .random_offset = std::move(offset)}};
}

AttendedGradient EfficientBackward(const at::Tensor& doutput, const Operands& in,
                                   const at::Tensor& output, const AttentionStatistics& statistics,
                                   bool causal) {
  const int64_t queries = in.q.size(2);
  const int64_t missing =
      (kEfficientAlignment - queries % kEfficientAlignment) % kEfficientAlignment;
  const at::Tensor log_sum_exp = at::constant_pad_nd(statistics.log_sum_exp, {0, missing});
  auto [dq, dk, dv, dbias] = at::_scaled_dot_product_efficient_attention_backward(
      doutput, in.q, in.k, in.v, /*attn_bias=*/{}, output, log_sum_exp.contiguous(),
      statistics.random_seed, statistics.random_offset, kNoDropout, {true, true, true, false},
      causal);
  return HeadsSecond({std::move(dq), std::move(dk), std::move(dv)});
}

}  // namespace

AttentionBackend AttentionBackendOf(planner::AttentionKernel kernel, c10::Device device,
                                    at::ScalarType dtype) {
  if (device.is_cpu()) return AttentionBackend::kCpuFlash;
  if (dtype != at::kBFloat16) return AttentionBackend::kEfficient;
  return kernel == planner::AttentionKernel::kCudnn ? AttentionBackend::kCudnn
                                                    : AttentionBackend::kFlash;
}

bool TakesBands(AttentionBackend backend) { return backend == AttentionBackend::kFlash; }

bool TakesGroupedQueries(AttentionBackend backend) {
  return backend == AttentionBackend::kFlash || backend == AttentionBackend::kCudnn;
}

namespace {

AttendedHeads ForwardOfEvenWidths(AttentionBackend backend, const at::Tensor& q,
                                  const at::Tensor& k, const at::Tensor& v, const KeySight& sight) {
  if (sight.band) return BandForward(q, k, v, *sight.band);
  const Operands in = {.q = HeadsFirst(q), .k = HeadsFirst(k), .v = HeadsFirst(v)};
  switch (backend) {
    case AttentionBackend::kCpuFlash:
      return CpuFlashForward(in, sight);
    case AttentionBackend::kFlash:
      return FlashForward(in, sight.causal);
    case AttentionBackend::kCudnn:
      return CudnnForward(in, sight.causal);
    case AttentionBackend::kEfficient:
      break;
  }
  return EfficientForward(in, sight.causal);
}

AttendedGradient BackwardOfEvenWidths(AttentionBackend backend, const at::Tensor& doutput,
                                      const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                      const at::Tensor& output,
                                      const AttentionStatistics& statistics,
                                      const KeySight& sight) {
  if (sight.band) return BandBackward(doutput, q, k, v, output, statistics, *sight.band);
  const bool causal = sight.causal;
  const Operands in = {.q = HeadsFirst(q), .k = HeadsFirst(k), .v = HeadsFirst(v)};
  const at::Tensor dout = HeadsFirst(doutput);
  const at::Tensor out = HeadsFirst(output);
  const int64_t queries = q.size(1);
  const int64_t keys = k.size(1);
  switch (backend) {
    case AttentionBackend::kCpuFlash:
      return HeadsSecond(at::_scaled_dot_product_flash_attention_for_cpu_backward(
          dout, in.q, in.k, in.v, out, statistics.log_sum_exp, kNoDropout, causal, MaskOf(sight)));
    case AttentionBackend::kFlash:
      return HeadsSecond(at::_scaled_dot_product_flash_attention_backward(
          dout, in.q, in.k, in.v, out, statistics.log_sum_exp.contiguous(), /*cum_seq_q=*/{},
          /*cum_seq_k=*/{}, queries, keys, kNoDropout, causal, statistics.random_seed,
          statistics.random_offset));
    case AttentionBackend::kCudnn:
      return HeadsSecond(at::_scaled_dot_product_cudnn_attention_backward(
          dout, in.q, in.k, in.v, out, statistics.log_sum_exp.contiguous().unsqueeze(3),
          statistics.random_seed, statistics.random_offset, /*attn_bias=*/{}, /*cum_seq_q=*/{},
          /*cum_seq_k=*/{}, queries, keys, kNoDropout, causal));
    case AttentionBackend::kEfficient:
      break;
  }
  return EfficientBackward(dout, in, out, statistics, causal);
}

// Zero-pads heads to `width`.
at::Tensor FilledUp(const at::Tensor& heads, int64_t width) {
  return at::constant_pad_nd(heads, {0, width - heads.size(3)});
}

// Flash attention needs one width for queries, keys and values.
bool FillsUp(AttentionBackend backend, const at::Tensor& q, const at::Tensor& v) {
  const bool takes_one =
      backend == AttentionBackend::kCpuFlash || backend == AttentionBackend::kFlash;
  return takes_one && v.size(3) < q.size(3);
}

}  // namespace

AttendedHeads AttendForward(AttentionBackend backend, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const KeySight& sight) {
  if (!FillsUp(backend, q, v)) return ForwardOfEvenWidths(backend, q, k, v, sight);
  AttendedHeads heads = ForwardOfEvenWidths(backend, q, k, FilledUp(v, q.size(3)), sight);
  heads.output = heads.output.narrow(3, 0, v.size(3));
  return heads;
}

AttendedGradient AttendBackward(AttentionBackend backend, const at::Tensor& doutput,
                                const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                const at::Tensor& output, const AttentionStatistics& statistics,
                                const KeySight& sight) {
  if (!FillsUp(backend, q, v)) {
    return BackwardOfEvenWidths(backend, doutput, q, k, v, output, statistics, sight);
  }
  const int64_t width = q.size(3);
  AttendedGradient gradient =
      BackwardOfEvenWidths(backend, FilledUp(doutput, width), q, k, FilledUp(v, width),
                           FilledUp(output, width), statistics, sight);
  gradient.v = gradient.v.narrow(3, 0, v.size(3));
  return gradient;
}

}  // namespace meshwright::worker

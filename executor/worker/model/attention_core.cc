#include "executor/worker/model/attention_core.h"

#include <ATen/ops/empty.h>

#include <utility>

namespace meshwright::worker {

at::Tensor HeadsOfCall(const AttentionShape& shape, const at::Tensor& heads, int64_t call) {
  if (shape.calls() == 1) return heads;
  return heads.slice(2, call, shape.heads, shape.calls());
}

AttentionResult AttentionForward(const AttentionShape& shape, const at::Tensor& q,
                                 const at::Tensor& k, const at::Tensor& v) {
  const int64_t tokens = shape.batch * shape.seq_len;
  const int64_t width = shape.heads * shape.head_dim;
  AttentionResult result;
  if (shape.calls() == 1) {
    AttendedHeads heads = AttendForward(shape.backend, q, k, v, /*causal=*/true);
    result.output = heads.output.reshape({tokens, width});
    result.statistics.push_back(std::move(heads.statistics));
    return result;
  }
  result.output = at::empty({tokens, width}, q.options());
  const at::Tensor output = result.output.view(q.sizes());
  for (int64_t call = 0; call < shape.calls(); ++call) {
    AttendedHeads heads =
        AttendForward(shape.backend, HeadsOfCall(shape, q, call), k, v, /*causal=*/true);
    HeadsOfCall(shape, output, call).copy_(heads.output);
    result.statistics.push_back(std::move(heads.statistics));
  }
  return result;
}

AttentionGradient AttentionBackward(const AttentionShape& shape, const at::Tensor& doutput,
                                    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const AttentionResult& forward) {
  const at::Tensor dheads = doutput.view(q.sizes());
  const at::Tensor heads = forward.output.view(q.sizes());
  AttentionGradient gradient;
  for (int64_t call = 0; call < shape.calls(); ++call) {
    AttendedGradient part = AttendBackward(
        shape.backend, HeadsOfCall(shape, dheads, call), HeadsOfCall(shape, q, call), k, v,
        HeadsOfCall(shape, heads, call), forward.statistics[call], /*causal=*/true);
    gradient.q.push_back(std::move(part.q));
    if (call == 0) {
      gradient.k = std::move(part.k);
      gradient.v = std::move(part.v);
    } else {
      gradient.k.add_(part.k);
      gradient.v.add_(part.v);
    }
  }
  return gradient;
}

}  // namespace meshwright::worker

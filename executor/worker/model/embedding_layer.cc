#include "executor/worker/model/embedding_layer.h"

#include <ATen/ops/empty.h>

#include "executor/worker/model/tensor_parallel.h"

namespace meshwright::worker {

at::Tensor EmbeddingLayer::Forward(const at::Tensor& tokens) const {
  const at::Tensor& table = unit_.weight(kEmbeddingTable);
  const at::Tensor output = at::empty({tokens.size(0), table.size(1)}, context_.options());
  context_.device->kernels().Run(
      kernels::EmbeddingForward{.type = context_.element(),
                                .rows = tokens.size(0),
                                .width = table.size(1),
                                .vocab_begin = context_.coordinates.tp * table.size(0),
                                .vocab_count = table.size(0),
                                .tokens = tokens.const_data_ptr<int32_t>(),
                                .table = table.const_data_ptr(),
                                .y = output.mutable_data_ptr()});
  return LeaveTensorParallel(context_, output);
}

void EmbeddingLayer::Backward(const at::Tensor& tokens, const at::Tensor& gradient) const {
  const at::Tensor whole = EnterTensorParallel(context_, gradient);
  const auto [table_gradient, empty] = unit_.TakeMatrixGradient(kEmbeddingTable);
  if (empty) table_gradient.zero_();
  context_.device->kernels().Run(
      kernels::EmbeddingBackward{.type = context_.element(),
                                 .rows = tokens.size(0),
                                 .width = table_gradient.size(1),
                                 .vocab_begin = context_.coordinates.tp * table_gradient.size(0),
                                 .vocab_count = table_gradient.size(0),
                                 .tokens = tokens.const_data_ptr<int32_t>(),
                                 .dy = whole.const_data_ptr(),
                                 .table_gradient = table_gradient.mutable_data_ptr()});
}

}  // namespace meshwright::worker

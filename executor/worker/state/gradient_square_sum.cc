#include "executor/worker/state/gradient_square_sum.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

namespace meshwright::worker {
namespace {

// Copies have equal gradients, so only one counts; shards are distinct.
bool CountsReplica(const FlatUnit& unit) {
  const Communicator* copies = unit.replicas().copies;
  return copies == nullptr || copies->rank() == 0;
}

}  // namespace

GradientSquareSum::GradientSquareSum(const RankContext& context)
    : context_(context),
      partial_sums_(
          at::empty({kernels::SumOfSquares::kPartialSums}, context.options_of(at::kDouble))),
      sum_(at::zeros({1}, context.options_of(at::kDouble))) {}

void GradientSquareSum::Add(const FlatUnit& unit) {
  if (!CountsReplica(unit)) return;
  const int32_t tensor_rank =
      unit.of_experts() ? context_.expert_tensor_rank() : context_.coordinates.tp;
  const bool with_replicated = tensor_rank == 0;
  for (const at::Tensor& gradients : unit.DistinctGradients(with_replicated)) {
    context_.device->kernels().Run(
        kernels::SumOfSquares{.type = context_.accumulator_element(),
                              .count = gradients.numel(),
                              .x = gradients.const_data_ptr(),
                              .partial_sums = partial_sums_.mutable_data_ptr<double>(),
                              .sum = sum_.mutable_data_ptr<double>()});
  }
}

}  // namespace meshwright::worker

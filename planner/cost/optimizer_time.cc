#include "planner/cost/optimizer_time.h"

#include <algorithm>

#include "planner/block/matrices.h"
#include "planner/layout/mesh.h"

namespace meshwright::planner {
namespace {

// Parameters of experts and all others have owners of their own.
struct Owners {
  RankGroup tensor;  // that hold parts of a matrix
  RankGroup shards;  // that divide those parts' states

  double ranks() const { return static_cast<double>(tensor.ranks() * shards.ranks()); }
};

Owners OwnersOf(const StepShape& step, bool experts) {
  const bool divides = step.layout.zero >= 1;
  if (experts) {
    return {.tensor = step.experts.tensor, .shards = divides ? step.experts.replicas : RankGroup()};
  }
  return {.tensor = step.tp_group, .shards = divides ? step.zero.shards : RankGroup()};
}

double IterationTime(const DeviceShare& device, const UpdatedMatrix& matrix) {
  const int64_t m = std::min(matrix.rows, matrix.columns);
  const int64_t n = std::max(matrix.rows, matrix.columns);
  const auto product_s = [&](int64_t rows, int64_t outputs, int64_t inputs) {
    return MatmulTime(device, NumberFormat::kBf16,
                      {.rows = rows, .outputs = outputs, .inputs = inputs});
  };
  return product_s(m, m, n) + product_s(m, m, m) + product_s(m, n, m);
}

double ExchangeTime(const StepShape& step, const Owners& owners, double rank_elements) {
  constexpr double kMomentumBytes = 2.0;
  const auto shards = static_cast<double>(owners.shards.ranks());
  const AllToAllRows rows = {.bytes = kMomentumBytes * rank_elements / shards};
  return AllToAllTime(step.network, owners.shards, rows) +
         AllToAllTime(step.network, owners.tensor, rows);
}

double OrthogonalTime(const StepShape& step, int32_t pipeline_rank, bool experts) {
  const Owners owners = OwnersOf(step, experts);
  double all_s = 0.0;
  double largest_s = 0.0;
  double rank_elements = 0.0;
  step.planned.ForEachMatrix(pipeline_rank, [&](const UpdatedMatrix& matrix, int64_t layers) {
    if (matrix.of_experts != experts) return;
    const double one_s = IterationTime(step.device, matrix);
    all_s += static_cast<double>(layers * matrix.count) * one_s;
    largest_s = std::max(largest_s, one_s);
    rank_elements += static_cast<double>(layers * matrix.rank_elements);
  });
  if (rank_elements == 0.0) return 0.0;
  return step.context.training.optimizer.orthogonal_iterations *
             std::max(all_s / owners.ranks(), largest_s) +
         2.0 * ExchangeTime(step, owners, rank_elements);
}

// Parameters whose states a rank keeps.
template <typename Elements>
double Owned(const StepShape& step, const Elements& elements) {
  const auto experts = static_cast<double>(elements.experts);
  const double dense = static_cast<double>(elements.all) - experts;
  if (step.layout.zero == 0) return dense + experts;
  return dense / static_cast<double>(step.zero.shards.ranks()) +
         experts / static_cast<double>(step.experts.replicas.ranks());
}

double RankTime(const StepShape& step, int32_t pipeline_rank) {
  const Optimizer& optimizer = step.context.training.optimizer;
  const double all = Owned(step, step.planned.ParametersOnRank(pipeline_rank));
  if (!optimizer.orthogonalises()) {
    return MemoryBoundTime(step.device, optimizer.others.traffic_bytes * all);
  }
  const double matrices = Owned(step, step.planned.MatricesOnRank(pipeline_rank));
  return MemoryBoundTime(step.device, optimizer.others.traffic_bytes * (all - matrices) +
                                          optimizer.matrices.traffic_bytes * matrices) +
         OrthogonalTime(step, pipeline_rank, /*experts=*/false) +
         OrthogonalTime(step, pipeline_rank, /*experts=*/true);
}

}  // namespace

double OptimizerTime(const StepShape& step) {
  double longest_s = 0.0;
  for (int32_t rank = 0; rank < step.layout.pp; ++rank) {
    if (step.planned.FirstAlike(rank) != rank) continue;
    longest_s = std::max(longest_s, RankTime(step, rank));
  }
  return longest_s + step.context.profile.traffic.step_overhead_s;
}

}  // namespace meshwright::planner

#include "planner/cost/optimizer_time.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "planner/block/matrices.h"
#include "planner/layout/mesh.h"
#include "planner/memory/model_states.h"

namespace meshwright::planner {
namespace {

// Parameters of experts and all others have different owners.
struct Owners {
  RankGroup tensor;  // ranks that hold parts of a matrix
  RankGroup shards;  // ranks that divide the states of those parts

  double ranks() const { return static_cast<double>(tensor.ranks() * shards.ranks()); }
};

Owners OwnersOf(const StepShape& step, bool experts) {
  const bool divides = step.layout.zero >= 1;
  if (experts) {
    return {.tensor = step.experts.tensor, .shards = divides ? step.expert_zero.shards : RankGroup()};
  }
  return {.tensor = step.tp_group, .shards = divides ? step.zero.shards : RankGroup()};
}

double IterationTime(const DeviceShare& device, const UpdatedMatrix& matrix) {
  const int64_t m = std::min(matrix.rows, matrix.columns);
  const int64_t n = std::max(matrix.rows, matrix.columns);
  const auto product_s = [&](int64_t rows, int64_t outputs, int64_t inputs) {
    return MatmulTime(device, device.formats.weights,
                      {.rows = rows, .outputs = outputs, .inputs = inputs});
  };
  return product_s(m, m, n) + product_s(m, m, m) + product_s(m, n, m);
}

double ExchangeTime(const StepShape& step, const Owners& owners, double rank_elements) {
  const auto momentum_bytes = static_cast<double>(BytesOf(step.device.formats.weights));
  const auto shards = static_cast<double>(owners.shards.ranks());
  const AllToAllRows rows = {.bytes = momentum_bytes * rank_elements / shards};
  return AllToAllTime(step.network, owners.shards, rows) +
         AllToAllTime(step.network, owners.tensor, rows);
}

// Seconds of one iteration.
struct Iterations {
  double all_s = 0.0;      // on all matrices, one after another
  double largest_s = 0.0;  // on the matrix that takes longest

  // Owners wait for the longest share of this before they begin what comes next.
  void ShareAlone(const Owners& owners) { all_s = std::max(all_s, owners.ranks() * largest_s); }

  void Add(const Iterations& other, int64_t times) {
    all_s += static_cast<double>(times) * other.all_s;
    largest_s = std::max(largest_s, other.largest_s);
  }
};

struct UnitIterations {
  Iterations dense;
  Iterations experts;
};

UnitIterations IterationsOf(const DeviceShare& device, const UnitMatrices& matrices) {
  UnitIterations unit;
  for (const UpdatedMatrix& matrix : matrices.list) {
    const double one_s = IterationTime(device, matrix);
    (matrix.of_experts ? unit.experts : unit.dense)
        .Add({.all_s = static_cast<double>(matrix.count) * one_s, .largest_s = one_s}, 1);
  }
  return unit;
}

// The iterations of a layout's units, each computed once for all pipeline ranks.
class KnownIterations {
 public:
  explicit KnownIterations(const DeviceShare& device) : device_(device) {}

  const UnitIterations& Of(const UnitMatrices& matrices) {
    for (const auto& [known, iterations] : known_) {
      if (known == &matrices) return iterations;
    }
    return known_.emplace_back(&matrices, IterationsOf(device_, matrices)).second;
  }

 private:
  const DeviceShare& device_;
  std::vector<std::pair<const UnitMatrices*, UnitIterations>> known_;
};

double OrthogonalTime(const StepShape& step, const Owners& owners, const Iterations& iterations,
                      double rank_elements) {
  if (rank_elements == 0.0) return 0.0;
  return step.context.training.optimizer.orthogonal_iterations *
             std::max(iterations.all_s / owners.ranks(), iterations.largest_s) +
         2.0 * ExchangeTime(step, owners, rank_elements);
}

// Returns the number of trained parameters whose states a rank keeps.
double Owned(const StepShape& step, const MatrixElements& elements) {
  const auto experts = static_cast<double>(elements.experts);
  const double dense = static_cast<double>(elements.all) - experts;
  if (step.layout.zero == 0) return dense + experts;
  return dense / static_cast<double>(step.zero.shards.ranks()) +
         experts / static_cast<double>(step.expert_zero.shards.ranks());
}

double Owned(const StepShape& step, const UnitParameters& parameters) {
  return Owned(
      step, MatrixElements{.all = parameters.trained(), .experts = parameters.trained_experts()});
}

double OrthogonalRankTime(const StepShape& step, int32_t pipeline_rank, KnownIterations& known) {
  const Optimizer& optimizer = step.context.training.optimizer;
  const MatrixElements elements = step.planned.MatricesOnRank(pipeline_rank);
  UnitIterations rank;
  const Owners dense_owners = OwnersOf(step, /*experts=*/false);
  const Owners expert_owners = OwnersOf(step, /*experts=*/true);
  step.planned.ForEachMatrices(pipeline_rank, [&](const UnitMatrices& matrices, int64_t layers) {
    UnitIterations unit = known.Of(matrices);
    if (step.context.profile.engine == Engine::kWorker) {
      unit.dense.ShareAlone(dense_owners);
      unit.experts.ShareAlone(expert_owners);
    }
    rank.dense.Add(unit.dense, layers);
    rank.experts.Add(unit.experts, layers);
  });
  const auto experts = static_cast<double>(elements.experts);
  const double matrices = Owned(step, elements);
  const double others = Owned(step, step.planned.ParametersOnRank(pipeline_rank)) - matrices;
  return MemoryBoundTime(step.device,
                         UpdateTrafficBytes(step.context, optimizer.others) * others +
                             UpdateTrafficBytes(step.context, optimizer.matrices) * matrices) +
         OrthogonalTime(step, dense_owners, rank.dense,
                        static_cast<double>(elements.all) - experts) +
         OrthogonalTime(step, expert_owners, rank.experts, experts);
}

double RankTime(const StepShape& step, int32_t pipeline_rank, KnownIterations& known) {
  const Optimizer& optimizer = step.context.training.optimizer;
  if (optimizer.orthogonalises()) return OrthogonalRankTime(step, pipeline_rank, known);
  const double owned = Owned(step, step.planned.ParametersOnRank(pipeline_rank));
  if (step.layout.offload.optimizer) return HostUpdateTime(step, owned).update_s;
  return MemoryBoundTime(step.device, UpdateTrafficBytes(step.context, optimizer.others) * owned);
}

}  // namespace

double OptimizerTime(const StepShape& step) {
  KnownIterations known(step.device);
  double longest_s = 0.0;
  for (int32_t rank = 0; rank < step.layout.pp; ++rank) {
    if (step.planned.FirstAlike(rank) != rank) continue;
    longest_s = std::max(longest_s, RankTime(step, rank, known));
  }
  return longest_s + step.context.profile.traffic.step_overhead_s;
}

HostUpdate LongestHostUpdate(const StepShape& step) {
  if (!step.layout.offload.optimizer) return {};
  double most = 0.0;
  for (int32_t rank = 0; rank < step.layout.pp; ++rank) {
    most = std::max(most, Owned(step, step.planned.ParametersOnRank(rank)));
  }
  return HostUpdateTime(step, most);
}

}  // namespace meshwright::planner

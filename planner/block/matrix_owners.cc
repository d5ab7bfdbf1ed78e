#include "planner/block/matrix_owners.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace meshwright::planner {
namespace {

// Elements by owner; the owners of one shard are adjacent.
class Loads {
 public:
  explicit Loads(const OwnerGrid& grid)
      : tensor_(grid.tensor), of_owners_(static_cast<size_t>(grid.tensor * grid.shards)) {}

  MatrixOwner Take(const HeldMatrix& matrix) {
    const auto least = std::min_element(of_owners_.begin(), of_owners_.end());
    const int64_t owner = least - of_owners_.begin();
    const int64_t shard = owner / tensor_;
    if (matrix.divided()) {
      *least += matrix.elements();
      return {.tensor = owner % tensor_, .shard = shard};
    }
    for (int64_t i = 0; i < tensor_; ++i) {
      of_owners_[static_cast<size_t>(shard * tensor_ + i)] += matrix.elements();
    }
    return {.tensor = MatrixOwner::kEvery, .shard = shard};
  }

  int64_t most() const { return *std::max_element(of_owners_.begin(), of_owners_.end()); }

 private:
  const int64_t tensor_;
  std::vector<int64_t> of_owners_;
};

std::vector<MatrixOwner> Assign(const std::vector<HeldMatrix>& matrices, Loads& loads) {
  std::vector<size_t> order(matrices.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return std::tuple(matrices[a].elements(), matrices[a].rank_elements) >
           std::tuple(matrices[b].elements(), matrices[b].rank_elements);
  });
  std::vector<MatrixOwner> owners(matrices.size());
  for (const size_t i : order) owners[i] = loads.Take(matrices[i]);
  return owners;
}

}  // namespace

int64_t OrthogonalWorkspace::scratch_elements() const {
  constexpr int64_t kMost = int64_t{1} << 16;
  return std::min(std::max(pieces, matrix), kMost);
}

std::vector<HeldMatrix> HeldMatricesOf(const UnitMatrices& matrices, bool of_experts) {
  std::vector<HeldMatrix> held;
  for (const UpdatedMatrix& matrix : matrices.list) {
    if (matrix.of_experts != of_experts) continue;
    held.insert(held.end(), static_cast<size_t>(matrix.count),
                {.rows = matrix.rows,
                 .columns = matrix.columns,
                 .rank_elements = matrix.rank_elements / matrix.count});
  }
  return held;
}

std::vector<MatrixOwner> OwnersOf(const std::vector<HeldMatrix>& matrices, const OwnerGrid& grid) {
  Loads loads(grid);
  return Assign(matrices, loads);
}

OrthogonalWorkspace WorkspaceOf(const std::vector<HeldMatrix>& matrices, const OwnerGrid& grid,
                                int64_t shard_elements) {
  Loads loads(grid);
  const std::vector<MatrixOwner> owners = Assign(matrices, loads);
  OrthogonalWorkspace workspace;
  int64_t all = 0;
  std::vector<int64_t> gathered(static_cast<size_t>(grid.shards));
  for (size_t i = 0; i < matrices.size(); ++i) {
    const HeldMatrix& matrix = matrices[i];
    const int64_t smaller = std::min(matrix.rows, matrix.columns);
    all += matrix.rank_elements;
    gathered[static_cast<size_t>(owners[i].shard)] += matrix.rank_elements;
    workspace.matrix = std::max(workspace.matrix, matrix.elements());
    workspace.gram = std::max(workspace.gram, smaller * smaller);
  }
  workspace.pieces = std::min(all, shard_elements);
  if (grid.shards > 1) workspace.gathered = *std::max_element(gathered.begin(), gathered.end());
  if (grid.tensor > 1) workspace.wholes = loads.most();
  return workspace;
}

}  // namespace meshwright::planner

// Assigns the matrices of a unit to owners, for an optimizer that orthogonalises. The owner of a
// matrix is one of the ranks that hold parts of it, and assembles it whole. Also counts what
// Meshwright's own worker holds during such an update.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/block/matrices.h"

namespace meshwright::planner {

// One matrix [rows, columns] as a rank holds it before ZeRO divides its states.
struct HeldMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t rank_elements = 0;

  int64_t elements() const { return rows * columns; }
  bool divided() const { return rank_elements < elements(); }
};

// The ranks that hold a unit. Tensor parallelism divides it into `tensor` parts, and ZeRO divides
// the states of each part into `shards`.
struct OwnerGrid {
  int64_t tensor = 1;
  int64_t shards = 1;
};

struct MatrixOwner {
  // Marks a matrix that every rank of tensor parallelism holds whole. Each of these ranks is an
  // owner.
  static constexpr int64_t kEvery = -1;

  int64_t tensor = 0;
  int64_t shard = 0;

  friend bool operator==(const MatrixOwner&, const MatrixOwner&) = default;
};

// Returns the matrices of experts if `of_experts`, otherwise all others.
std::vector<HeldMatrix> HeldMatricesOf(const UnitMatrices& matrices, bool of_experts);

// Returns the owner of each matrix, in the order of `matrices`. Matrices are assigned from the
// largest to the smallest, each to the owner with the fewest elements so far. The owners' totals
// therefore do not depend on the order of `matrices`.
std::vector<MatrixOwner> OwnersOf(const std::vector<HeldMatrix>& matrices, const OwnerGrid& grid);

// Numbers of elements, in the weights' format, that a rank holds while it updates one unit. All
// ranks have the same numbers: each is the largest that any rank needs.
struct OrthogonalWorkspace {
  int64_t pieces = 0;    // the rank's own pieces of the unit's matrices
  int64_t gathered = 0;  // parts of matrices, gathered from all shards; 0 with one shard
  int64_t wholes = 0;    // whole matrices, gathered from all parts; 0 with one part
  int64_t matrix = 0;    // the largest matrix
  int64_t gram = 0;      // the largest matrix times its transpose

  // Returns the elements of all buffers together. Gathered parts are held twice, as received and as
  // assembled. The iterations alternate between two matrices. They also hold the product of a
  // matrix with its transpose and a polynomial of this product.
  int64_t elements() const { return pieces + 2 * gathered + wholes + 2 * matrix + 2 * gram; }
  // Returns how many elements of gradients, moments or weights are converted to another format at a
  // time.
  int64_t scratch_elements() const;
};

// Returns the workspace of a unit with these matrices. `shard_elements` is the size of one shard of
// the unit.
OrthogonalWorkspace WorkspaceOf(const std::vector<HeldMatrix>& matrices, const OwnerGrid& grid,
                                int64_t shard_elements);

}  // namespace meshwright::planner

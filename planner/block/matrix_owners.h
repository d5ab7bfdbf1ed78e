// Assigns the matrices of a unit to owners among the ranks that hold parts of them, each of which
// assembles its matrices whole, and counts what Meshwright's own worker holds for such an update.
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

// The holders of a unit: the ranks of tensor parallelism, and for each of their parts its shards.
struct OwnerGrid {
  int64_t tensor = 1;
  int64_t shards = 1;
};

struct MatrixOwner {
  // Marks a matrix that every rank of tensor parallelism holds whole: each is an owner.
  static constexpr int64_t kEvery = -1;

  int64_t tensor = 0;
  int64_t shard = 0;

  friend bool operator==(const MatrixOwner&, const MatrixOwner&) = default;
};

// Returns the matrices of experts, or all others.
std::vector<HeldMatrix> HeldMatricesOf(const UnitMatrices& matrices, bool of_experts);

// Assigns the largest matrix first, each to the owner with the least so far. The result is by
// position in `matrices`. The owners' totals do not depend on the order of `matrices`.
std::vector<MatrixOwner> OwnersOf(const std::vector<HeldMatrix>& matrices, const OwnerGrid& grid);

// Elements in the weights' format that every rank holds while one unit is updated: for each member,
// as many as the rank that needs the most.
struct OrthogonalWorkspace {
  int64_t pieces = 0;    // of all matrices that a rank updates
  int64_t gathered = 0;  // parts of matrices, gathered from all shards; 0: pieces are parts already
  int64_t wholes = 0;    // matrices, gathered from all parts; 0: parts are whole already
  int64_t matrix = 0;    // the largest matrix
  int64_t gram = 0;      // the largest matrix times its transpose

  // Parts are held as received and as assembled; the iterations alternate between two matrices, in
  // addition to the product and its polynomial.
  int64_t elements() const { return pieces + 2 * gathered + wholes + 2 * matrix + 2 * gram; }
  // Returns the elements of gradients, moments or weights that are converted from one format to
  // another at once.
  int64_t scratch_elements() const;
};

// `shard_elements` is the size of one shard of the unit.
OrthogonalWorkspace WorkspaceOf(const std::vector<HeldMatrix>& matrices, const OwnerGrid& grid,
                                int64_t shard_elements);

}  // namespace meshwright::planner

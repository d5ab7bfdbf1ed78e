// Which of the ranks that hold parts of a unit's matrices makes each of them whole, and what
// Meshwright's own worker holds for an update that needs them so.
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

// The holders of a unit: those of tensor parallelism, and of each of these parts its shards.
struct OwnerGrid {
  int64_t tensor = 1;
  int64_t shards = 1;
};

struct MatrixOwner {
  // Of a matrix that every rank of tensor parallelism holds whole, each is an owner.
  static constexpr int64_t kEvery = -1;

  int64_t tensor = 0;
  int64_t shard = 0;

  friend bool operator==(const MatrixOwner&, const MatrixOwner&) = default;
};

// Those of experts, or all others.
std::vector<HeldMatrix> HeldMatricesOf(const UnitMatrices& matrices, bool of_experts);

// The largest first, each to the owner that has the least so far. By position in `matrices`. What
// the owners have together does not depend on the order of `matrices`.
std::vector<MatrixOwner> OwnersOf(const std::vector<HeldMatrix>& matrices, const OwnerGrid& grid);

// Elements in the weights' format that every rank holds while one unit is updated; as many as the
// rank needs that needs the most of each.
struct OrthogonalWorkspace {
  int64_t pieces = 0;    // of all matrices, that a rank updates
  int64_t gathered = 0;  // parts of matrices out of all shards; 0: pieces are parts
  int64_t wholes = 0;    // matrices out of all parts; 0: parts are whole
  int64_t matrix = 0;    // the largest one
  int64_t gram = 0;      // its product with itself

  // Parts are held as they come and put together; the iterations go back and forth between two
  // matrices, with the product and its polynomial beside them.
  int64_t elements() const { return pieces + 2 * gathered + wholes + 2 * matrix + 2 * gram; }
  // Elements of gradients, moments or weights that are turned from one format to another at once.
  int64_t scratch_elements() const;
};

// `shard_elements` are those of a shard of the unit.
OrthogonalWorkspace WorkspaceOf(const std::vector<HeldMatrix>& matrices, const OwnerGrid& grid,
                                int64_t shard_elements);

}  // namespace meshwright::planner

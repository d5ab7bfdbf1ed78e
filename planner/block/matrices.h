// The matrices of a unit's products, which an optimizer that orthogonalises needs whole.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/block/operator.h"

namespace meshwright::planner {

// `count` matrices [rows, columns], undivided, of which a rank holds `rank_elements` in all. Those
// of experts are the rank's own: its etp peers hold parts of the same ones.
struct UpdatedMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t count = 1;
  int64_t rank_elements = 0;
  bool of_experts = false;

  friend bool operator==(const UpdatedMatrix&, const UpdatedMatrix&) = default;
};

// The number of parameters that a rank holds in matrices: all, and those of experts.
struct MatrixElements {
  int64_t all = 0;
  int64_t experts = 0;
};

struct UnitMatrices {
  // In the order of the unit's products. Projections that one product computes, such as those of
  // queries and keys, are a matrix each.
  std::vector<UpdatedMatrix> list;
  MatrixElements elements;  // of all of `list`
};

UnitMatrices MatricesOf(const OperatorList& operators);

}  // namespace meshwright::planner

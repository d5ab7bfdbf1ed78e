// Lists the trained matrices of the products of a unit (planner/block/parameters.h defines units).
// An optimizer that orthogonalises its updates needs each matrix whole.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/block/operator.h"

namespace meshwright::planner {

// `count` matrices, each of the whole size [rows, columns]. A rank holds `rank_elements` elements
// of them in total. Only the rank's own experts have matrices here; other ranks of the
// expert-tensor-parallel group hold other parts of the same matrices.
struct UpdatedMatrix {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t count = 1;
  int64_t rank_elements = 0;
  bool of_experts = false;

  friend bool operator==(const UpdatedMatrix&, const UpdatedMatrix&) = default;
};

// Numbers of parameters that a rank holds in matrices: in all matrices, and in matrices of experts.
struct MatrixElements {
  int64_t all = 0;
  int64_t experts = 0;
};

struct UnitMatrices {
  // In the order of the unit's products. If one product computes several projections, such as those
  // of queries and keys, each projection has a matrix of its own.
  std::vector<UpdatedMatrix> list;
  MatrixElements elements;  // totals of the whole list
};

UnitMatrices MatricesOf(const OperatorList& operators);

}  // namespace meshwright::planner

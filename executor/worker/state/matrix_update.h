// MatrixUpdate updates a unit's matrices with an optimizer that orthogonalises them
// (planner/spec/optimizer.h: Muon). Each matrix is orthogonalised as a whole, in the weights'
// format, by one of the ranks that hold parts of it (planner/block/matrix_owners.h).
//
// A rank computes momentum directions from its own gradients. An all-to-all among the ranks that
// divide the unit moves the directions to the shard that owns the matrix. A second all-to-all,
// among the ranks of tensor parallelism (for experts, expert tensor parallelism), moves them to the
// rank that owns the matrix. Results return the same way, and are bitwise independent of which rank
// owns a matrix. Ranks that hold copies of the states do the same work on the same values.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/state/flat_unit.h"
#include "executor/worker/state/rank_context.h"
#include "planner/block/matrix_owners.h"

namespace meshwright::worker {

class MatrixUpdate {
 public:
  // Allocates the buffers that planner::WorkspaceOf() counts. REQUIRES: `context` and `unit`
  // outlive this object.
  MatrixUpdate(const RankContext& context, FlatUnit& unit);
  ~MatrixUpdate();
  MatrixUpdate(const MatrixUpdate&) = delete;
  MatrixUpdate& operator=(const MatrixUpdate&) = delete;

  // Updates the unit's matrices. All ranks that hold parts of these matrices must call Run(), with
  // units in the same order.
  void Run(const AdamWOptions& options, const MuonOptions& muon);

 private:
  // This rank's part of one matrix.
  struct Matrix {
    ParameterPart part;
    ElementRange range;    // in the unit
    int64_t owner = 0;     // index of the owner in tensor_
    int64_t shard = 0;     // index of the owner in shards_
    bool divided = false;  // over the ranks of tensor_

    int64_t rows() const { return part.global_rows; }
    int64_t columns() const { return part.global_columns; }
  };

  static std::vector<Matrix> MatricesOf(const FlatUnit& unit);
  void AllocateWorkspace(const planner::OrthogonalWorkspace& sizes);
  // Each of these three moves data to the owners or, if its argument is false, back.
  void MoveShards(bool to_owners);
  void MoveParts(bool to_owners);
  void ReorderPieces(bool to_parts);
  void OrthogonaliseOwned();
  double NormOf(const at::Tensor& matrix);
  // Calls visit(matrix, part of `pieces`, range of the unit) for this rank's own pieces.
  template <typename Visit>
  void ForEachOwnPiece(const Visit& visit);

  const RankContext& context_;
  FlatUnit& unit_;
  Communicator* const shards_;
  Communicator* const tensor_;
  const int64_t own_shard_;
  const int64_t own_tensor_;
  const int64_t shard_ranks_;
  const int64_t tensor_ranks_;
  std::vector<Matrix> matrices_;  // sorted by shard, owner and position
  at::Tensor pieces_;
  at::Tensor gathered_;  // of matrices owned by this shard, by source shard
  at::Tensor parts_;     // reordered from gathered_: each matrix contiguous
  at::Tensor wholes_;    // of matrices owned by this rank, by source tensor rank
  at::Tensor matrix_;
  at::Tensor other_;
  at::Tensor gram_;
  at::Tensor polynomial_;
  at::Tensor scratch_;
  at::Tensor partial_sums_;
  at::Tensor sum_;
};

}  // namespace meshwright::worker

// The update of a unit's matrices by an optimizer that orthogonalises them
// (planner/spec/optimizer.h: Muon). A matrix is orthogonalised as a whole, by one of the ranks that
// hold parts of it (planner/block/matrix_owners.h), in the weights' format.
//
// What momentum makes of a rank's own gradients goes to the owners of the shards' part of each
// matrix by an all-to-all among those that divide the unit, and from there by another one among
// those of tensor parallelism; results go back the same way, bit for bit the same whoever owns a
// matrix. Ranks that hold copies of the states do the same with the same values.
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
  // Both outlive it. Takes what WorkspaceOf() says.
  MatrixUpdate(const RankContext& context, FlatUnit& unit);
  ~MatrixUpdate();
  MatrixUpdate(const MatrixUpdate&) = delete;
  MatrixUpdate& operator=(const MatrixUpdate&) = delete;

  // All ranks that hold a part of the unit's matrices call it, for their units in the same order.
  void Run(const AdamWOptions& options, const MuonOptions& muon);

 private:
  // A part of the unit that is a part of one matrix.
  struct Matrix {
    ParameterPart part;
    ElementRange range;  // in the unit
    int64_t owner = 0;   // among tensor ranks
    int64_t shard = 0;
    bool divided = false;

    int64_t rows() const { return part.global_rows; }
    int64_t columns() const { return part.global_columns; }
  };

  static std::vector<Matrix> MatricesOf(const FlatUnit& unit);
  void AllocateWorkspace(const planner::OrthogonalWorkspace& sizes);
  // Both directions of a way: to owners or back.
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
  std::vector<Matrix> matrices_;  // by shard, by owner, by place
  at::Tensor pieces_;
  at::Tensor gathered_;  // of matrices whose shard is this, by shard of origin
  at::Tensor parts_;     // the same, each together
  at::Tensor wholes_;    // of matrices whose owner is this, by tensor rank of origin
  at::Tensor matrix_;
  at::Tensor other_;
  at::Tensor gram_;
  at::Tensor polynomial_;
  at::Tensor scratch_;
  at::Tensor partial_sums_;
  at::Tensor sum_;
};

}  // namespace meshwright::worker

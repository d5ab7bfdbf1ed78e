// ListCost holds the work of a list of operators, for the computation of their time. The work
// depends only on the operators' shapes, not on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "planner/block/operator.h"

namespace meshwright::planner {

// The work of one pass of an operator: a product, a stream or both.
struct PassCost {
  PassKind pass = PassKind::kForward;
  bool repeated = false;          // whether the input gradient begins by repeating this forward
  double recomputed_share = 0.0;  // share of a forward that is recomputed before backward
  bool multiplies = false;
  MatmulShape product = {};
  double stream_bytes = 0.0;  // bytes read from and written to device memory
  // FLOPs of the pass of a core or an adapter, including what the pass itself recomputes.
  double core_flops = 0.0;
};

// A collective that compute waits for, among the ranks that share a layer or its experts.
struct CollectiveCost {
  PassKind pass = PassKind::kForward;
  GroupRole group = GroupRole::kTensor;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool of_loss = false;
  bool recomputed = false;  // a collective of a forward that is also recomputed
  int64_t bytes = 0;        // bytes, counted as in OperatorCollective::bytes
};

struct ListCost {
  std::vector<PassCost> passes;  // only passes that multiply or stream something
  std::vector<CollectiveCost> collectives;
  // Collectives among context-parallel ranks outside of ring attention. They are the all-to-alls
  // around a recurrence, which exchange a division by tokens for a division by heads, and the
  // collectives that gather the keys of sparse attention and scatter their gradients.
  std::vector<CollectiveCost> context_collectives;
  std::unique_ptr<const Operator> attention;  // null if the list has none
  // The numbers of things that the host issues in the forward and in the backward of the list:
  // passes of operators, collectives, and the steps of ring attention. An operator that recompute
  // executes again is counted once.
  int32_t forward_operators = 0;
  int32_t backward_operators = 0;
};

ListCost CostOf(const OperatorList& operators);

}  // namespace meshwright::planner

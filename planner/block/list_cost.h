// ListCost holds the work of a list of operators that has to be timed. It depends on their shapes
// alone, not on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "planner/block/operator.h"

namespace meshwright::planner {

// What one pass of an operator computes: a product, a stream or both.
struct PassCost {
  PassKind pass = PassKind::kForward;
  bool repeated = false;          // a forward that the input gradient repeats at its start
  double recomputed_share = 0.0;  // of a forward: what is recomputed of it before the backward
  bool multiplies = false;
  MatmulShape product = {};
  double stream_bytes = 0.0;  // read from and written to device memory
  // That the pass of a core, or of an adapter, executes, with what it recomputes.
  double core_flops = 0.0;
};

// A collective that compute waits for, among the ranks that share a layer or its experts.
struct CollectiveCost {
  PassKind pass = PassKind::kForward;
  GroupRole group = GroupRole::kTensor;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  bool of_loss = false;
  bool recomputed = false;  // of a forward that is also recomputed
  int64_t bytes = 0;        // as OperatorCollective::bytes
};

struct ListCost {
  std::vector<PassCost> passes;  // only passes that multiply or stream something
  std::vector<CollectiveCost> collectives;
  // Of operators other than attention over the context-parallel ranks: the exchange of tokens for
  // heads around a recurrence, and the keys of sparse attention.
  std::vector<CollectiveCost> context_collectives;
  std::unique_ptr<const Operator> attention;  // null if the list has none
  // What the host issues in the forward and in the backward of the list: passes of operators,
  // collectives, and the steps of ring attention. What is recomputed is not counted again.
  int32_t forward_operators = 0;
  int32_t backward_operators = 0;
};

ListCost CostOf(const OperatorList& operators);

}  // namespace meshwright::planner

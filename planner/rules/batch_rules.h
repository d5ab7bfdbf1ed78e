// Rules about the global batch. They are checked last, because a layout that breaks only these
// could run with another batch.
#pragma once

#include "planner/rules/operands.h"
#include "planner/rules/rule.h"
#include "planner/schedule/schedule_needs.h"

namespace meshwright::planner {

inline bool BatchDoesNotDivide(const RuleInput& input, const Layout& layout, Operands& operands) {
  return DoesNotDivide(input.training.global_batch, int64_t{layout.dp} * layout.micro_batch,
                       operands);
}

// This rule and the next require a global batch that passes BatchDoesNotDivide().
inline bool TooFewMicroBatches(const RuleInput& input, const Layout& layout, Operands& operands) {
  const int64_t least = LeastMicroBatches(NeedsOf(layout.schedule), layout.pp);
  if (least == 0) return false;
  const int64_t micro_batches = layout.MicroBatches(input.training.global_batch);
  return micro_batches < least && Broken(micro_batches, least, operands);
}

inline bool RoundsAreNotWhole(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (!NeedsOf(layout.schedule).whole_rounds) return false;
  return DoesNotDivide(layout.MicroBatches(input.training.global_batch), layout.pp, operands);
}

}  // namespace meshwright::planner

// Rules about the global batch. They are asked last: a layout that breaks one of them would run with
// another batch.
#pragma once

#include "planner/rules/rule.h"

namespace meshwright::planner {

bool BatchDoesNotDivide(const RuleInput& input, const Layout& layout, Operands& operands);
// The others require a batch that divides.
bool TooFewMicroBatches(const RuleInput& input, const Layout& layout, Operands& operands);
bool RoundsAreNotWhole(const RuleInput& input, const Layout& layout, Operands& operands);

}  // namespace meshwright::planner

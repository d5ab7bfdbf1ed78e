// Rules about sizes: what the planner can count and what a program can run.
#pragma once

#include "planner/rules/rule.h"

namespace meshwright::planner {

// Bytes of the largest thing that the planner counts must stay far inside 64 bits.
bool IsTooLarge(const RuleInput& input, const Layout& layout, Operands& operands);
bool HasTooManyContextRanks(const RuleInput& input, const Layout& layout, Operands& operands);
bool HasTooManyChunks(const RuleInput& input, const Layout& layout, Operands& operands);

}  // namespace meshwright::planner

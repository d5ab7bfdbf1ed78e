// Provides helpers for rules that fill in their operands.
#pragma once

#include <cstdint>

#include "planner/rules/rule.h"

namespace meshwright::planner {

// Stores the operands of a broken rule. Returns true.
inline bool Broken(int64_t value, int64_t divisor, Operands& operands) {
  operands = {.value = value, .divisor = divisor};
  return true;
}

// Returns whether `divisor` does not divide `value`, and if so, stores both as operands.
inline bool DoesNotDivide(int64_t value, int64_t divisor, Operands& operands) {
  return value % divisor != 0 && Broken(value, divisor, operands);
}

// Returns whether breaks(group) is true for any group of layers of the model. Of groups with the
// same shape, only one is checked.
template <typename Breaks>
bool AnyGroup(const RuleInput& input, const Breaks& breaks) {
  return input.shapes.Any(input.model, breaks);
}

}  // namespace meshwright::planner

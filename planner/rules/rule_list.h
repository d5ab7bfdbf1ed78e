// Holds the single list of rules that decide which layouts can run, given a model, a batch and the
// profile of the program that runs them. The search, estimates, exports, validation and the
// programs that run trials all check this list.
//
// No rule names a framework: the profile of a framework, or of the project's own worker, says what
// it can run. The requirements of schedules come from planner/schedule/schedule_needs.h, which the
// generators of schedule lists read as well.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "planner/layout/layout.h"
#include "planner/profile/context.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// Returns every rule once, in the order in which they are checked.
const std::array<RuleEntry, kRuleCount>& Rules();

std::string_view RuleName(Rule rule);

// Returns one sentence that explains the violation with numbers.
std::string Describe(const Violation& violation);

// Returns the first rule that `layout` breaks, or nullopt if it can run. Allocates nothing.
std::optional<Violation> CheckLayout(const RuleInput& input, const Layout& layout);

// The first rule of a level that a layout breaks.
struct RuleVerdict {
  size_t place = kRuleCount;  // index in Rules(); kRuleCount if the layout breaks none
  Operands operands = {};
};

// Returns the first broken rule of the level among those before index `before` of Rules(). For a
// layout without offload, named kernels and rc=block:N, the verdict with the lowest index over all
// levels is the result of CheckLayout().
RuleVerdict CheckLevel(RuleLevel level, const RuleInput& input, const Layout& layout,
                       size_t before);

// Returns the index of the level's first rule in Rules(), or kRuleCount if it has none.
size_t FirstPlaceOf(RuleLevel level);

// Returns the rules' input for layouts on `devices` devices. The input refers to the specs of
// `context`, which must outlive it.
RuleInput RuleInputOf(const EstimateContext& context, int64_t devices);

// Returns the first rule that `layout` breaks on `devices` devices under the specs of `context`, or
// nullopt if it can run.
std::optional<Violation> CheckLayout(const EstimateContext& context, int64_t devices,
                                     const Layout& layout);

// Returns whether the rule checks what the layers and kernels of a program can run. If layouts name
// no kernel, as in a search space, either all of them break such a rule or none does.
bool IsAboutKernels(Rule rule);

}  // namespace meshwright::planner

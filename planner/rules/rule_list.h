// The single list of rules about which layouts can run, given a model, a batch and the profile of
// the program that runs them. The search, estimates, exports, validation and the programs that run
// trials all check this list.
//
// No rule names a framework: its profile says what a framework, or the project's own worker, can
// run. What a schedule needs of a pipeline comes from planner/schedule/schedule_needs.h, which the
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

// Returns one sentence that says with numbers what is wrong.
std::string Describe(const Violation& violation);

// Returns the first rule that `layout` breaks, or nullopt where it can run. Allocates nothing.
std::optional<Violation> CheckLayout(const RuleInput& input, const Layout& layout);

// The first rule of a level that a layout breaks.
struct RuleVerdict {
  size_t place = kRuleCount;  // index in Rules(); kRuleCount where it breaks none
  Operands operands = {};
};

// Returns the first broken rule of the level among those before index `before` of the list. The
// first of all levels' verdicts is CheckLayout(), for layouts without offload, named kernels and
// rc=block:N.
RuleVerdict CheckLevel(RuleLevel level, const RuleInput& input, const Layout& layout,
                       size_t before);

// Returns the index of the level's first rule; kRuleCount where there is none.
size_t FirstPlaceOf(RuleLevel level);

// Returns the rules' input for layouts on `devices` under an estimate's specs, which must outlive
// it.
RuleInput RuleInputOf(const EstimateContext& context, int64_t devices);

// Returns the same as CheckLayout() above, under the specs of an estimate.
std::optional<Violation> CheckLayout(const EstimateContext& context, int64_t devices,
                                     const Layout& layout);

// Returns whether the rule is about the layers and kernels of a program. Among layouts that name no
// kernel, such as those of a search space, either all break such a rule or none does.
bool IsAboutKernels(Rule rule);

}  // namespace meshwright::planner

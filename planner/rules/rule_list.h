// The one list of rules about which layouts can run, given a model, a batch and the profile of the
// program that runs them. The search, estimates, exports, validation and the programs that run
// trials all ask this list.
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

// Returns every rule once, in the order in which they are asked.
const std::array<RuleEntry, kRuleCount>& Rules();

std::string_view RuleName(Rule rule);

// Returns one sentence that says with numbers what is wrong.
std::string Describe(const Violation& violation);

// Returns the first rule that `layout` breaks, or nullopt where it can run. Allocates nothing.
std::optional<Violation> CheckLayout(const RuleInput& input, const Layout& layout);

// Returns the input of rules for layouts on `devices` under an estimate's specs, which must outlive
// it.
RuleInput RuleInputOf(const EstimateContext& context, int64_t devices);

// The same under the specs of an estimate.
std::optional<Violation> CheckLayout(const EstimateContext& context, int64_t devices,
                                     const Layout& layout);

// Whether the rule is about the layers and kernels of a program. Layouts that name no kernel, such
// as those of a search space, either all break such a rule or none does.
bool IsAboutKernels(Rule rule);

}  // namespace meshwright::planner

// The one list of rules about which layouts can run, over a model, a batch, a layout and the
// profile of what runs it. Whoever asks whether a layout can run asks here: the search, estimates,
// exports, validation and the programs that run trials.
//
// What a framework, or the project's own worker, can run is what its profile says; a rule names no
// framework. What a schedule asks of a pipeline is planner/schedule/schedule_needs.h, which the
// lists of actions are made by as well.
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

// Every rule once, in the order in which they are asked.
const std::array<RuleEntry, kRuleCount>& Rules();

std::string_view RuleName(Rule rule);

// One sentence with the numbers in it.
std::string Describe(const Violation& violation);

// The first rule that `layout` breaks, or nullopt when it can run. Pure; allocates nothing.
std::optional<Violation> CheckLayout(const RuleInput& input, const Layout& layout);

// What an estimate's specs say of layouts on so many devices. Refers to them.
RuleInput RuleInputOf(const EstimateContext& context, int64_t devices);

// The same under the specs of an estimate.
std::optional<Violation> CheckLayout(const EstimateContext& context, int64_t devices,
                                     const Layout& layout);

// Whether the rule is about what layers and kernels take. Layouts that name no kernels, as those of
// a search space, break it all or none.
bool IsAboutKernels(Rule rule);

}  // namespace meshwright::planner

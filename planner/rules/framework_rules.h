// The rule about what a framework does not have: ZeRO stages, schedules, recompute, axes.
#pragma once

#include <string>

#include "planner/rules/rule.h"

namespace meshwright::planner {

bool HasSchedule(const Supports& supports, ScheduleKind schedule);

bool FrameworkLacksIt(const RuleInput& input, const Layout& layout, Operands& operands);

// What the framework has instead.
std::string DescribeFramework(const Operands& operands);

}  // namespace meshwright::planner

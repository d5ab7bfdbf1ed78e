// Rules about what the layers and kernels of a program take (planner/profile/kernel_support.h), with
// the sentences that say what it takes instead.
#pragma once

#include <string>

#include "planner/rules/rule.h"

namespace meshwright::planner {

bool LacksFfn(const RuleInput& input, const Layout& layout, Operands& operands);
bool LacksQkNorm(const RuleInput& input, const Layout& layout, Operands& operands);
bool LacksHeadDim(const RuleInput& input, const Layout& layout, Operands& operands);
bool LacksSeveralHeadDims(const RuleInput& input, const Layout& layout, Operands& operands);
bool LacksHeadDimOnCuda(const RuleInput& input, const Layout& layout, Operands& operands);
bool LacksPrecision(const RuleInput& input, const Layout& layout, Operands& operands);
// These are about kernels that the layout names; a default is the framework's own.
bool LacksAttention(const RuleInput& input, const Layout& layout, Operands& operands);
bool LacksNorm(const RuleInput& input, const Layout& layout, Operands& operands);

std::string DescribeFfn(const Operands& operands);
std::string DescribeHeadDim(const Operands& operands);
std::string DescribeHeadDimOnCuda(const Operands& operands);
std::string DescribePrecision(const Operands& operands);
std::string DescribeAttention(const Operands& operands);
std::string DescribeNorm(const Operands& operands);

}  // namespace meshwright::planner

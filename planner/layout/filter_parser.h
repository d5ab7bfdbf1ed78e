// Reads conditions on layouts (planner/layout/filter.h), in the grammar of
// planner/layout/condition_parser.h.
//
// Fields have the names of a layout's text form, and "schedule" stands for sched too. Values are
// whole numbers, or the words of rc and sched.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "planner/layout/condition_parser.h"
#include "planner/layout/filter.h"

namespace meshwright::planner {

// A layout's fields, in the order of FilterField.
const ConditionFields& LayoutFields();

// Returns the filter of a text; of an empty one, that which takes every layout. InvalidArgument
// about the field `name` says where the text is wrong and what would be accepted there.
absl::StatusOr<Filter> ParseFilter(std::string_view name, std::string_view text);

// Returns the filter of values that a layout must have, such as "tp=8,pp=4". Errors as above.
absl::StatusOr<Filter> ParseFixed(std::string_view name, std::string_view text);

}  // namespace meshwright::planner

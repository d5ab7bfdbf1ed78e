// Reads conditions on layouts (planner/layout/filter.h).
//
//   filter     = all { "or" all }
//   all        = one { "and" one }
//   one        = "not" one | "(" filter ")" | comparison
//   comparison = field sign value | field "in" "(" value { "," value } ")"
//   sign       = "=" | "==" | "!=" | "<" | "<=" | ">" | ">="
//
// Fields have the names of a layout's text form, and "schedule" stands for sched too. Values are
// whole numbers, or the words of rc and sched, which have no order: they take "=", "!=" and "in".
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "planner/layout/filter.h"

namespace meshwright::planner {

// The longest text that is read, and how deep its parentheses go.
inline constexpr size_t kMostFilterBytes = 4096;
inline constexpr int kMostFilterDepth = 32;

// Returns the filter of a text; of an empty one, that which takes every layout. InvalidArgument
// about the field `name` says where the text is wrong and what would be accepted there.
absl::StatusOr<Filter> ParseFilter(std::string_view name, std::string_view text);

// Returns the filter of values that a layout must have, such as "tp=8,pp=4". Errors as above.
absl::StatusOr<Filter> ParseFixed(std::string_view name, std::string_view text);

}  // namespace meshwright::planner

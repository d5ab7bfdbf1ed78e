// Reads conditions (planner/layout/condition.h).
//
//   condition  = all { "or" all }
//   all        = one { "and" one }
//   one        = "not" one | "(" condition ")" | comparison
//   comparison = field sign value | field "in" "(" value { "," value } ")"
//   sign       = "=" | "==" | "!=" | "<" | "<=" | ">" | ">="
//
// Fields and their values are the caller's. Those without an order take "=", "!=" and "in". A text
// is made of letters, digits and . _ - + : / @, or stands in double quotes.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "planner/layout/condition.h"

namespace meshwright::planner {

// The longest text that is read, and how deep its parentheses go: each level takes up to six of the
// hundred places that SQLite's parser has for a statement, which may ask for more than a condition.
inline constexpr size_t kMostFilterBytes = 4096;
inline constexpr int kMostFilterDepth = 12;

// Whether a text outside double quotes may have the character.
bool IsConditionText(char c);

// Returns the condition of a text; of an empty one, that which always holds. InvalidArgument about
// the field `name` says where the text is wrong and what would be accepted there.
absl::StatusOr<Condition> ParseCondition(std::string_view name, std::string_view text,
                                         const ConditionFields& fields);

// Returns the condition of values that must be there, such as "tp=8,pp=4". Errors as above.
absl::StatusOr<Condition> ParseValues(std::string_view name, std::string_view text,
                                      const ConditionFields& fields);

}  // namespace meshwright::planner

// Reads conditions (planner/layout/condition.h).
//
//   condition  = all { "or" all }
//   all        = one { "and" one }
//   one        = "not" one | "(" condition ")" | comparison
//   comparison = field sign value | field "in" "(" value { "," value } ")"
//   sign       = "=" | "==" | "!=" | "<" | "<=" | ">" | ">="
//
// The caller lists the fields and their values. A field without an order takes "=", "==", "!=" and
// "in". A text consists of letters, digits and . _ - + : / @, or stands in double quotes.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "planner/layout/condition.h"

namespace meshwright::planner {

// The longest text that is read, in bytes.
inline constexpr size_t kMostFilterBytes = 4096;
// The deepest nesting of parentheses and `not` that is read. SQLite's parser has a stack of a
// hundred entries for a whole statement. Each level takes up to six of them, and a statement may
// hold more than the condition.
inline constexpr int kMostFilterDepth = 12;

// Returns whether a text outside double quotes may contain the character.
bool IsConditionText(char c);

// Returns the condition that `text` states; an empty text states the condition that always holds.
// Returns InvalidArgument about the field `name` if the text is wrong. The message says where it is
// wrong and what would be accepted there.
absl::StatusOr<Condition> ParseCondition(std::string_view name, std::string_view text,
                                         const ConditionFields& fields);

// Returns the condition that all fields in `text`, such as "tp=8,pp=4", have the given values. The
// errors are those of ParseCondition().
absl::StatusOr<Condition> ParseValues(std::string_view name, std::string_view text,
                                      const ConditionFields& fields);

}  // namespace meshwright::planner

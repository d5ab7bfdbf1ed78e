// A condition on named values, such as `tp >= 2 and outcome = ok`, over fields that the caller
// lists: the expression by itself. planner/layout/condition_parser.h reads it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::planner {

// What the values of a field are.
enum class ValueType : uint8_t {
  kWhole,  // whole numbers
  kReal,   // numbers
  kWord,   // one of `words`, which have no order
  kText    // texts without an order
};

// What a condition may be about.
struct ConditionField {
  std::string_view name;
  ValueType type = ValueType::kWhole;
  std::vector<std::string_view> words = {};
  std::vector<std::string_view> also = {};  // other names that it is known by
  // Of a text of a form of its own: its only text, from any way to write it, and what an error says
  // would be accepted. Empty where any text will do.
  absl::StatusOr<std::string> (*read)(std::string_view field, std::string_view text) = nullptr;
  std::string accepts = {};

  bool has_order() const { return type == ValueType::kWhole || type == ValueType::kReal; }
};

using ConditionFields = std::vector<ConditionField>;

// A whole number, or a word's place in `words`; a number; a text.
using ConditionValue = std::variant<int64_t, double, std::string>;

enum class Comparison : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kAtMost,
  kMore,
  kAtLeast,
  kIn  // any of several values
};

enum class ConditionForm : uint8_t {
  kAll,  // of `parts`; without parts it always holds
  kAny,  // of `parts`
  kNot,  // the one of `parts`
  kCompare
};

struct Condition {
  ConditionForm form = ConditionForm::kAll;
  std::vector<Condition> parts = {};
  // Of kCompare. One value, but for kIn.
  size_t field = 0;  // place among the fields
  Comparison comparison = Comparison::kEqual;
  std::vector<ConditionValue> values = {};

  bool holds_always() const { return form == ConditionForm::kAll && parts.empty(); }

  friend bool operator==(const Condition&, const Condition&) = default;
};

// Returns what ParseCondition() reads as the same condition, as long as it is short enough for it:
// spaces may make it longer than the text that was read. "" for a condition that always holds.
std::string FormatCondition(const Condition& condition, const ConditionFields& fields);

}  // namespace meshwright::planner

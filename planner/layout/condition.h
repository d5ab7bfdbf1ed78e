// Condition is an expression over named fields, such as `tp >= 2 and outcome = ok`. The caller
// lists the fields that a condition may name. planner/layout/condition_parser.h reads conditions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::planner {

// The type of a field's values.
enum class ValueType : uint8_t {
  kWhole,  // whole numbers
  kReal,   // numbers
  kWord,   // one of ConditionField::words, which have no order
  kText    // texts without an order
};

// A field that a condition may name.
struct ConditionField {
  std::string_view name;
  ValueType type = ValueType::kWhole;
  std::vector<std::string_view> words = {};
  std::vector<std::string_view> also = {};  // other names of the field
  // Only for a kText field whose values have a syntax. `read` returns the normal form of any
  // spelling of a value. Errors quote `accepts` as the accepted values. If `read` is null, the
  // field accepts any text.
  absl::StatusOr<std::string> (*read)(std::string_view field, std::string_view text) = nullptr;
  std::string accepts = {};

  bool has_order() const { return type == ValueType::kWhole || type == ValueType::kReal; }
};

using ConditionFields = std::vector<ConditionField>;

// An integer is a value of a kWhole field, or the index in `words` of a value of a kWord field. A
// double is a value of a kReal field, and a string one of a kText field.
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
  kAll,     // all of `parts` hold; without parts it always holds
  kAny,     // at least one of `parts` holds
  kNot,     // the only part does not hold
  kCompare  // the comparison of a field holds
};

struct Condition {
  ConditionForm form = ConditionForm::kAll;
  std::vector<Condition> parts = {};
  // Only for kCompare. kIn may have several values; the other comparisons have one.
  size_t field = 0;  // index among the fields
  Comparison comparison = Comparison::kEqual;
  std::vector<ConditionValue> values = {};

  bool holds_always() const { return form == ConditionForm::kAll && parts.empty(); }

  friend bool operator==(const Condition&, const Condition&) = default;
};

// Returns a text that ParseCondition() reads as the same condition, or "" for a condition that
// always holds. Because of its blanks it may be longer than the text that was read, and too long
// for ParseCondition().
std::string FormatCondition(const Condition& condition, const ConditionFields& fields);

}  // namespace meshwright::planner

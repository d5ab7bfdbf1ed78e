// A condition on named values, such as `tp >= 2 and outcome = ok`, over fields that the caller
// lists: the expression by itself. planner/layout/condition_parser.h reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "planner/layout/filter.h"

namespace meshwright::planner {

// What a condition may be about.
struct ConditionField {
  enum class Kind : uint8_t {
    kWhole,  // whole numbers
    kReal,   // numbers
    kWord,   // one of `words`, which have no order
    kText    // names that nobody lists, without an order
  };

  std::string_view name;
  Kind kind = Kind::kWhole;
  std::vector<std::string_view> words = {};
  std::vector<std::string_view> also = {};  // other names that it is known by

  bool has_order() const { return kind == Kind::kWhole || kind == Kind::kReal; }
};

using ConditionFields = std::vector<ConditionField>;

// A whole number, or a word's place in `words`; a number; a text.
using ConditionValue = std::variant<int64_t, double, std::string>;

struct Condition {
  enum class Kind : uint8_t {
    kAll,  // of `parts`; without parts it always holds
    kAny,  // of `parts`
    kNot,  // the one of `parts`
    kCompare
  };

  Kind kind = Kind::kAll;
  std::vector<Condition> parts = {};
  // Of kCompare. One value, but for kIn.
  size_t field = 0;  // place among the fields
  Comparison comparison = Comparison::kEqual;
  std::vector<ConditionValue> values = {};

  bool holds_always() const { return kind == Kind::kAll && parts.empty(); }

  friend bool operator==(const Condition&, const Condition&) = default;
};

}  // namespace meshwright::planner

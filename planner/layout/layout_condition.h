// Conditions on layouts, such as `tp <= 8 and sched in (1f1b, interleaved) and stages = none`: the
// keys of planner/layout/keys.h in the grammar of planner/layout/condition_parser.h.
//
// Counts and switches are numbers (0 where there is none, as in `hs = 0`), words are words
// (`attn = default` is the framework's kernel, `rc = block` any number of layers), texts are "none"
// or their form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/layout/condition.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

// The keys as fields, in the order of the table.
const ConditionFields& LayoutFields();

// Returns the condition of a text; of an empty one, that which every layout meets. InvalidArgument
// about the field `name` says where the text is wrong and what would be accepted there.
absl::StatusOr<Condition> ParseLayoutCondition(std::string_view name, std::string_view text);

// Returns the condition of values that a layout must have, such as "tp=8,pp=4". Errors as above.
absl::StatusOr<Condition> ParseFixed(std::string_view name, std::string_view text);

// What ParseLayoutCondition() reads as the same condition.
std::string FormatLayoutCondition(const Condition& condition);

// The value of a key as a condition has it, of the field at that place of LayoutFields().
ConditionValue ConditionValueOf(size_t field, const Layout& layout);

// A condition compiled once for many layouts: texts are parsed, and each comparison knows its key.
class LayoutMatcher {
 public:
  // REQUIRES: fields and values as ParseLayoutCondition() gives them.
  explicit LayoutMatcher(const Condition& condition);

  bool holds_always() const { return form_ == ConditionForm::kAll && parts_.empty() && !negated_; }
  // Allocates nothing: a search asks it of every layout that can run.
  bool Matches(const Layout& layout) const {
    return (form_ == ConditionForm::kCompare ? HasValue(layout) : MatchesParts(layout)) != negated_;
  }

 private:
  void TakeNumbers(const Condition& condition);
  bool HasValue(const Layout& layout) const;
  bool MatchesParts(const Layout& layout) const;

  ConditionForm form_;  // kNot is its part, negated
  bool negated_ = false;
  bool is_text_ = false;
  size_t key_;
  int64_t (*number_of_)(const Layout& layout) = nullptr;
  int64_t low_ = std::numeric_limits<int64_t>::min();  // a number's range, with both ends
  int64_t high_ = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> numbers_ = {};  // where there are several, the number is one of them
  std::vector<Layout> texts_ = {};     // with the value of the key; nothing else of them counts
  std::vector<LayoutMatcher> parts_ = {};
};

}  // namespace meshwright::planner

// Reads, writes and evaluates conditions on layouts, such as `tp <= 8 and sched in (1f1b,
// interleaved) and stages = none`. The fields are the keys of planner/layout/keys.h.
// planner/layout/condition_parser.h has the grammar.
//
// Counts and switches are compared with numbers: `hs = 0` means a layout without hs=. Words are
// compared with words: `attn = default` means the framework's kernel, and `rc = block` any number
// of layers. Texts are compared with "none" or with a text in the key's syntax.
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

// Returns the keys as fields, in the order of kLayoutKeys.
const ConditionFields& LayoutFields();

// Returns the condition that `text` states; every layout meets the condition of an empty text.
// Returns InvalidArgument about the field `name` if the text is wrong. The message says where it is
// wrong and what would be accepted there.
absl::StatusOr<Condition> ParseLayoutCondition(std::string_view name, std::string_view text);

// Returns the condition that a layout's keys have the values given in `text`, such as "tp=8,pp=4".
// The errors are those of ParseLayoutCondition().
absl::StatusOr<Condition> ParseFixed(std::string_view name, std::string_view text);

// Returns a text that ParseLayoutCondition() reads as the same condition.
std::string FormatLayoutCondition(const Condition& condition);

// Returns the layout's value of the key at index `field` of LayoutFields(), as conditions compare
// it.
ConditionValue ConditionValueOf(size_t field, const Layout& layout);

// LayoutMatcher is a condition compiled for many layouts: its texts are parsed, and each comparison
// knows its key.
class LayoutMatcher {
 public:
  // REQUIRES: the condition is one that ParseLayoutCondition() or ParseFixed() may return.
  explicit LayoutMatcher(const Condition& condition);

  bool holds_always() const { return form_ == ConditionForm::kAll && parts_.empty() && !negated_; }
  // Returns whether the layout meets the condition. Allocates nothing, because a search calls it
  // for every layout that can run.
  bool Matches(const Layout& layout) const {
    return (form_ == ConditionForm::kCompare ? HasValue(layout) : MatchesParts(layout)) != negated_;
  }

 private:
  void TakeNumbers(const Condition& condition);
  bool HasValue(const Layout& layout) const;
  bool MatchesParts(const Layout& layout) const;

  ConditionForm form_;  // form of the condition, or of its part if it is a kNot
  bool negated_ = false;
  bool is_text_ = false;
  size_t key_;
  int64_t (*number_of_)(const Layout& layout) = nullptr;
  int64_t low_ = std::numeric_limits<int64_t>::min();  // the accepted numbers, both ends included
  int64_t high_ = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> numbers_ = {};  // if not empty, the accepted numbers in place of the range
  std::vector<Layout> texts_ = {};  // layouts with an accepted text; their other keys do not count
  std::vector<LayoutMatcher> parts_ = {};
};

}  // namespace meshwright::planner

// FieldRule says which values a field of a runner may have. The values come from an operator of the
// server, who must not be able to run what the agent's owner did not install.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "planner/codec/fields.h"

namespace meshwright::command {

// A rule has one of three forms: {"from": N, "to": N} allows a whole number in this range,
// {"words": [...]} allows one of these words, and {"below": FOLDER} allows the path of anything
// below this folder.
struct FieldRule {
  std::optional<int64_t> from = {};
  std::optional<int64_t> to = {};
  std::vector<std::string> words = {};
  std::string below = {};
};

template <planner::ConstOr<FieldRule> Rule, typename Visitor>
void VisitFields(Rule& rule, Visitor& visit) {
  visit("from", rule.from);
  visit("to", rule.to);
  visit("words", rule.words);
  visit("below", rule.below);
}

// Returns InvalidArgument unless the rule has exactly one of its forms.
absl::Status CheckRule(std::string_view path, const FieldRule& rule);

// Returns the value as the command gets it: a path is absolute and has no links. Returns
// InvalidArgument for `field`, which says what would be accepted, if the rule does not allow
// `value`. No rule allows a value that begins with '-', since a program would take it for a flag.
absl::StatusOr<std::string> FieldValue(std::string_view field, const FieldRule& rule,
                                       const std::string& value);

// Returns what the rule accepts: "a whole number from 1 to 8".
std::string AcceptedBy(const FieldRule& rule);

}  // namespace meshwright::command

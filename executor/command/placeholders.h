// Placeholders are words in braces that stand in a runner's command for what is known only when a
// trial starts.
//
// {args} stands for the words of the framework's export, and {NAME} of a declared field for the
// field's value: each must be an argument of its own. The others are numbers, a numeric
// address, paths that the agent made, and values of layout keys; they may also stand inside an
// argument.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::command {

// Words for {args} and the fields.
using WholeWords = std::map<std::string, std::vector<std::string>>;
// Values for the placeholders that may stand inside an argument.
using InnerWords = std::map<std::string, std::string>;

// Stands for the rank that runs alone in a slice; no other command has it, and it may stand inside
// an argument.
inline constexpr std::string_view kRankPlaceholder = "rank";

// Returns the names of the placeholders that every trial has, those of layout keys included.
const std::vector<std::string>& InnerPlaceholders();

// Returns whether one of the arguments has the placeholder.
bool HasPlaceholder(const std::vector<std::string>& argv, std::string_view placeholder);

// Returns InvalidArgument, which names the argument as an entry of `path` and what would be
// accepted, if one of the arguments has a placeholder that is neither in `whole` nor one that every
// trial (`of_slice`: or a slice) has, if one of `whole` is not an argument of its own, or if the
// first argument has one other than {runner_folder}.
absl::Status CheckPlaceholders(std::string_view path, const std::vector<std::string>& argv,
                               const std::vector<std::string>& whole, bool of_slice = false);

// Returns the arguments with the placeholders' values. REQUIRES: CheckPlaceholders() accepted them,
// and every placeholder has a value.
std::vector<std::string> Substitute(const std::vector<std::string>& argv, const WholeWords& whole,
                                    const InnerWords& inner);

}  // namespace meshwright::command

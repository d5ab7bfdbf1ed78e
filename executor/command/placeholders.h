// Placeholders are words in braces in a runner's command. They stand for values that are known only
// when a trial starts.
//
// {args} stands for the arguments of the framework's export, and {NAME} for the value of the
// declared field NAME. Each of these must be an argument of its own. All other placeholders may
// also stand inside an argument: their values are numbers, a numeric address, paths that the agent
// made, and values of layout keys.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::command {

// The arguments for {args} and for each field.
using WholeWords = std::map<std::string, std::vector<std::string>>;
// Values for the placeholders that may stand inside an argument.
using InnerWords = std::map<std::string, std::string>;

// Stands for the rank that runs alone in a slice trial. Only the command of a slice may have it,
// and it may stand inside an argument.
inline constexpr std::string_view kRankPlaceholder = "rank";

// Returns the names of the placeholders that every trial has, including the layout keys.
const std::vector<std::string>& InnerPlaceholders();

// Returns whether one of the arguments has the placeholder.
bool HasPlaceholder(const std::vector<std::string>& argv, std::string_view placeholder);

// Checks the placeholders in `argv`; `of_slice` says whether this is the command of a slice.
// Returns InvalidArgument if (1) a placeholder is not in `whole`, InnerPlaceholders() or, for a
// slice, kRankPlaceholder, (2) a placeholder in `whole` is not an argument of its own, or (3) the
// first argument has a placeholder other than {runner_folder}. The error names the argument as an
// entry of `path`, and says what would be accepted.
absl::Status CheckPlaceholders(std::string_view path, const std::vector<std::string>& argv,
                               const std::vector<std::string>& whole, bool of_slice = false);

// Returns the arguments with the placeholders replaced by their values. REQUIRES:
// CheckPlaceholders() accepted them, and every placeholder has a value.
std::vector<std::string> Substitute(const std::vector<std::string>& argv, const WholeWords& whole,
                                    const InnerWords& inner);

}  // namespace meshwright::command

// NearestNames() suggests known names for a misspelt name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace meshwright {

// Returns at most three of `known` that `name` may stand for, the likeliest first. Case is ignored.
// All returned names come from the first of these groups that is not empty:
// - names that begin with `name`, as "a100-40" and "a100-80" begin with "a100";
// - names that are a short form of `name`, as "seq-len" is of "sequence-length";
// - names that begin with the same letters, such as "gemma-2-2b" and "gemma-3-4b" for
//   "gemma-3-27b", the longest common beginning first;
// - names that share a word with `name`;
// - names of the smallest edit distances from `name`.
std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& known);

// Returns NotFound with the message "`what` `name` is not known; nearest: a, b, c".
absl::Status UnknownName(std::string_view what, std::string_view name,
                         const std::vector<std::string>& known);

}  // namespace meshwright

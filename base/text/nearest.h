// Suggests known names for a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace meshwright {

// Returns at most three of `known`, the likeliest first, ignoring case: where some begin with
// `name`, those alone ("a100" means a100-40 and a100-80), otherwise those that `name` is the long
// form of ("sequence-length" of "seq-len"), otherwise those that share a word with it, otherwise
// those of the smallest edit distance.
std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& known);

// Returns NotFound: "`what` `name` is not known; nearest: a, b, c".
absl::Status UnknownName(std::string_view what, std::string_view name,
                         const std::vector<std::string>& known);

}  // namespace meshwright

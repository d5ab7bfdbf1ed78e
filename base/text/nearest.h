// The names most like a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace meshwright {

// At most three of `known`, the likeliest first, whatever the case: where some begin with `name`,
// those alone ("a100" means a100-40 and a100-80), or else those that `name` is the long form of
// ("sequence-length" of "seq-len"), or else those that share a word with it, or else the names that
// the fewest changes lead to.
std::vector<std::string> NearestNames(std::string_view name, const std::vector<std::string>& known);

// NotFound: "`what` `name` is not known; nearest: a, b, c".
absl::Status UnknownName(std::string_view what, std::string_view name,
                         const std::vector<std::string>& known);

}  // namespace meshwright

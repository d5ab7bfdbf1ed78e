// The names most like a misspelt one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace meshwright {

// NotFound: "`what` `name` is not known; nearest: a, b, c".
absl::Status UnknownName(std::string_view what, std::string_view name,
                         const std::vector<std::string>& known);

}  // namespace meshwright

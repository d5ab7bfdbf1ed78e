// Files that are in memory alone.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright {

// The descriptor of one that holds `text` and is read from its beginning, closed in programs that
// are started; the caller closes it. `name` is for people who look at the process. Unavailable
// where there is no memory for it.
absl::StatusOr<int> MemoryFile(const char* name, std::string_view text);

}  // namespace meshwright

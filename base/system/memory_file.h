// MemoryFile() creates files that exist in memory only.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright {

// Returns the descriptor of a file that holds `text`, positioned at its beginning and closed on
// exec. The caller closes it. `name` is for people who inspect the process. Returns Unavailable if
// the system can't create or fill the file.
absl::StatusOr<int> MemoryFile(const char* name, std::string_view text);

}  // namespace meshwright

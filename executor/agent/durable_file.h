// WriteDurably() writes a small file of an agent's state folder.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace meshwright::agent {

// The extension of a file that is being written. A killed agent may leave one behind.
inline constexpr char kTemporaryExtension[] = ".tmp";

// Writes the file with all of `text`, or leaves it as it was. Once OK is returned, the file
// survives the machine's end. Only its owner may read it. Returns Unavailable if it can't be
// written.
absl::Status WriteDurably(const std::string& path, const std::string& text);

}  // namespace meshwright::agent

// Files that commands read and write in one piece.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright {

// The text of a file of at most 256 MiB. InvalidArgument about `flag` where it can't be read.
absl::StatusOr<std::string> ReadWholeFile(std::string_view flag, const std::string& path);

// Puts `text` where `path` names a regular file or nothing yet, so that it holds all of the text or
// what it held before, whenever the process ends; writes straight into anything else, such as a
// pipe. InvalidArgument about `flag` where that fails.
absl::Status WriteWholeFile(std::string_view flag, const std::string& path, std::string_view text);

// Whether that could work, without touching what is there: known before an hour's work is lost.
absl::Status CheckWritable(std::string_view flag, const std::string& path);

}  // namespace meshwright

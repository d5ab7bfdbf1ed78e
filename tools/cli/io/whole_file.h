// Files that commands read and write in one piece.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::cli {

inline constexpr uintmax_t kMaxFileBytes = uintmax_t{256} << 20;

// The text of a file of at most `max_bytes`. InvalidArgument about `flag` where it can't be read.
absl::StatusOr<std::string> ReadWholeFile(std::string_view flag, const std::string& path,
                                          uintmax_t max_bytes = kMaxFileBytes);

// The file that writing to `path` makes or changes: `path` itself, or what stands at the end of its
// symbolic links, whether that is there or not.
std::string WrittenFile(const std::string& path);

// Puts `text` where `path` names a regular file or nothing yet, so that it holds all of the text or
// what it held before, whenever the process ends; writes straight into anything else, such as a
// pipe. Unavailable, about `flag`, where that fails.
absl::Status WriteWholeFile(std::string_view flag, const std::string& path, std::string_view text);

// Whether that could work, without touching what is there: known before an hour's work is lost.
// InvalidArgument about `flag` where it could not.
absl::Status CheckWritable(std::string_view flag, const std::string& path);

}  // namespace meshwright::cli

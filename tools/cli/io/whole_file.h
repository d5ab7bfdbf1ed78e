// Reads and writes files as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::cli {

inline constexpr uintmax_t kMaxFileBytes = uintmax_t{256} << 20;

// Returns the text of a file of at most `max_bytes`. InvalidArgument about `flag` where it can't be
// read.
absl::StatusOr<std::string> ReadWholeFile(std::string_view flag, const std::string& path,
                                          uintmax_t max_bytes = kMaxFileBytes);

// Returns the file that writing to `path` creates or changes: `path` itself, or the target of its
// symbolic links, existing or not.
std::string WrittenFile(const std::string& path);

// Replaces the file at `path` atomically where that is a regular file or does not exist: whenever
// the process ends, the file has all of the text or its old content. Writes straight into anything
// else, such as a pipe. Unavailable, about `flag`, where that fails.
absl::Status WriteWholeFile(std::string_view flag, const std::string& path, std::string_view text);

// Checks whether writing could work, without touching the file, before long work is done in vain.
// InvalidArgument about `flag` where it could not.
absl::Status CheckWritable(std::string_view flag, const std::string& path);

}  // namespace meshwright::cli

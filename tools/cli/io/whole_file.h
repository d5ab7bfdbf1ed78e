// ReadWholeFile() and WriteWholeFile() read and write files as a whole.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::cli {

inline constexpr uintmax_t kMaxFileBytes = uintmax_t{256} << 20;

// Returns the text of the file. Returns InvalidArgument, which names `flag`, if the file can't be
// read or is larger than `max_bytes`. A pipe has no such limit; it is read to its end.
absl::StatusOr<std::string> ReadWholeFile(std::string_view flag, const std::string& path,
                                          uintmax_t max_bytes = kMaxFileBytes);

// Reads an open descriptor to its end and returns the text. Returns InvalidArgument, which names
// `flag`, if the descriptor can't be read or has more than `max_bytes`.
absl::StatusOr<std::string> ReadWholeDescriptor(std::string_view flag, int descriptor,
                                                uintmax_t max_bytes);

// Returns the file that writing to `path` creates or changes: `path` itself, or the target of its
// symbolic links, existing or not.
std::string WrittenFile(const std::string& path);

// Writes `text` to the file at `path`. A regular file, or one that does not exist yet, is replaced
// atomically: even if the process is killed, the file has all of the text or its old content. Other
// files, such as pipes, are written directly. Returns Unavailable, which names `flag`, if writing
// fails.
absl::Status WriteWholeFile(std::string_view flag, const std::string& path, std::string_view text);

// Checks, without changing the file, that WriteWholeFile() can write it, so that no long work is
// done in vain. Returns InvalidArgument, which names `flag`, if the file can't be written.
absl::Status CheckWritable(std::string_view flag, const std::string& path);

}  // namespace meshwright::cli

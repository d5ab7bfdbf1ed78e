// Page sizes and page tokens of list calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace meshwright::server {

// A page's start and length. Its token is the position after the last entry of the page before;
// callers treat it as opaque.
struct Page {
  int64_t position = 0;  // 0: the first page
  int32_t size = 0;
};

// A page ends with the entry that brings it above this many bytes: by default a client accepts
// messages of up to 4 MiB.
inline constexpr size_t kMostPageBytes = 2 << 20;

// Returns the size, 50 for 0. InvalidArgument for a size below 0 or above 1000.
absl::StatusOr<int32_t> ReadPageSize(int32_t page_size);

// Reads both. InvalidArgument also for a token that no call gave.
absl::StatusOr<Page> ReadPage(int32_t page_size, const std::string& page_token);
std::string PageToken(int64_t position);

// Returns a token for `place` that is valid only for the query that it was given for: `words` is
// everything that the entries and their order depend on.
std::string BoundPageToken(const std::string& place, const std::string& words);

// Returns the place; empty for an empty token. InvalidArgument for a token of other `words`, or
// that no call gave.
absl::StatusOr<std::string> ReadBoundPageToken(const std::string& page_token,
                                               const std::string& words);

// Returns InvalidArgument for a token that no call gave.
absl::Status NotAPageToken(const std::string& page_token);

}  // namespace meshwright::server

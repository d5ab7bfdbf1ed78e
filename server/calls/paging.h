// Page sizes and page tokens of list calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace meshwright::server {

// Where a page starts and how long it is. A token is the position after the last entry of the page
// before; callers treat it as opaque.
struct Page {
  int64_t position = 0;  // 0: the first page
  int32_t size = 0;
};

// A page ends with the entry that makes it longer than this, for what a client takes in one message
// is 4 MiB where it does not ask for more.
inline constexpr size_t kMostPageBytes = 2 << 20;

// 0 becomes 50. InvalidArgument for a size below 0 or above 1000.
absl::StatusOr<int32_t> ReadPageSize(int32_t page_size);

// Both. InvalidArgument, too, for a token that no call gave.
absl::StatusOr<Page> ReadPage(int32_t page_size, const std::string& page_token);
std::string PageToken(int64_t position);

// A token that goes on where it was given only: `words` is all that the entries and their order
// depend on.
std::string BoundPageToken(const std::string& place, const std::string& words);

// The place; empty for an empty token. InvalidArgument for one of other words, or of no call.
absl::StatusOr<std::string> ReadBoundPageToken(const std::string& page_token,
                                               const std::string& words);

// InvalidArgument about a token that no call gave.
absl::Status NotAPageToken(const std::string& page_token);

}  // namespace meshwright::server

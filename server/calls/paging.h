// ReadPage() reads the page size and page token of a list call, and PageToken() makes such a token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace meshwright::server {

// The start and the length of a page. The token of a page is its position as text; clients treat it
// as opaque.
struct Page {
  int64_t position = 0;  // end of the previous page; 0 for the first page
  int32_t size = 0;
};

// A page ends with the entry that brings it above this many bytes. By default, a client accepts
// messages of up to 4 MiB.
inline constexpr size_t kMostPageBytes = 2 << 20;

// Returns `page_size`, or 50 if it is 0. Returns InvalidArgument if it is below 0 or above 1000.
absl::StatusOr<int32_t> ReadPageSize(int32_t page_size);

// Reads the page of a request. Returns InvalidArgument for a size that ReadPageSize() refuses and
// for a token that no list call returned.
absl::StatusOr<Page> ReadPage(int32_t page_size, const std::string& page_token);
// Returns the token of the page with this position.
std::string PageToken(int64_t position);

// Returns a token for the page that begins at `place`. The token is valid for one query only:
// `words` is everything on which the query's entries and their order depend.
std::string BoundPageToken(const std::string& place, const std::string& words);

// Returns the place of a token, or an empty text for an empty token. Returns InvalidArgument for a
// token that was made with other `words`, and for a text that is no token of BoundPageToken().
absl::StatusOr<std::string> ReadBoundPageToken(const std::string& page_token,
                                               const std::string& words);

// Returns InvalidArgument, which says that no list call returned this token.
absl::Status NotAPageToken(const std::string& page_token);

}  // namespace meshwright::server

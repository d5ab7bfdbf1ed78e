// Page sizes and page tokens of list calls.
#pragma once

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

// 0 becomes 50. InvalidArgument for a size below 0 or above 1000 and for a token that no call gave.
absl::StatusOr<Page> ReadPage(int32_t page_size, const std::string& page_token);
std::string PageToken(int64_t position);

}  // namespace meshwright::server

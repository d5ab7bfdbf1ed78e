#include "server/paging.h"

#include "absl/strings/numbers.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::server {
namespace {

constexpr int32_t kDefaultSize = 50;
constexpr int32_t kMaxSize = 1000;

}  // namespace

absl::StatusOr<Page> ReadPage(int32_t page_size, const std::string& page_token) {
  RETURN_IF_ERROR(CheckRange("page_size", page_size, 0, kMaxSize));
  Page page{0, page_size == 0 ? kDefaultSize : page_size};
  if (page_token.empty()) return page;
  if (!absl::SimpleAtoi(page_token, &page.position) || page.position < 1 ||
      page.position > INT32_MAX) {
    return FieldError("page_token", page_token, "must be the next_page_token of an earlier answer");
  }
  return page;
}

std::string PageToken(int64_t position) { return std::to_string(position); }

}  // namespace meshwright::server

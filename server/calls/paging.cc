#include "server/calls/paging.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "db/token.h"

namespace meshwright::server {
namespace {

constexpr int32_t kDefaultSize = 50;
constexpr int32_t kMaxSize = 1000;
constexpr size_t kHashDigits = 16;

}  // namespace

absl::Status NotAPageToken(const std::string& page_token) {
  return FieldError("page_token", page_token,
                    "must be the next_page_token of an earlier response to the same request");
}

absl::StatusOr<int32_t> ReadPageSize(int32_t page_size) {
  RETURN_IF_ERROR(CheckRange("page_size", page_size, 0, kMaxSize));
  return page_size == 0 ? kDefaultSize : page_size;
}

absl::StatusOr<Page> ReadPage(int32_t page_size, const std::string& page_token) {
  Page page;
  ASSIGN_OR_RETURN(page.size, ReadPageSize(page_size));
  if (page_token.empty()) return page;
  if (!absl::SimpleAtoi(page_token, &page.position) || page.position < 1 ||
      page.position > INT32_MAX) {
    return NotAPageToken(page_token);
  }
  return page;
}

std::string PageToken(int64_t position) { return std::to_string(position); }

std::string BoundPageToken(const std::string& place, const std::string& words) {
  return absl::StrCat(place, ".",
                      db::HashOf(absl::StrCat(place, "\n", words)).substr(0, kHashDigits));
}

absl::StatusOr<std::string> ReadBoundPageToken(const std::string& page_token,
                                               const std::string& words) {
  if (page_token.empty()) return std::string();
  std::string place = page_token.substr(0, page_token.find('.'));
  if (BoundPageToken(place, words) != page_token) return NotAPageToken(page_token);
  return place;
}

}  // namespace meshwright::server

#include "planner/scaling/device_range.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

bool ParseSize(absl::string_view text, int64_t& size) {
  return absl::SimpleAtoi(text, &size) && size >= 1 && size <= kMostDevicesOfARange;
}

}  // namespace

std::vector<int64_t> DeviceRange::Sizes() const {
  std::vector<int64_t> sizes;
  for (int64_t size = low; size < high; size *= 2) sizes.push_back(size);
  sizes.push_back(high);
  return sizes;
}

absl::StatusOr<DeviceRange> ParseDeviceRange(std::string_view text) {
  const absl::string_view whole = AbslView(text);
  const std::pair<absl::string_view, absl::string_view> ends =
      absl::StrSplit(whole, absl::MaxSplits("..", 1));
  const bool is_range = whole.find("..") != absl::string_view::npos;
  DeviceRange range;
  if (ParseSize(ends.first, range.low)) {
    range.high = range.low;
    if (!is_range || (ParseSize(ends.second, range.high) && range.high >= range.low)) return range;
  }
  return FieldError(
      "gpus", text,
      "must be a whole number from 1 to 1048576, or two with .. between them, the smaller "
      "first, such as 8..1024");
}

}  // namespace meshwright::planner

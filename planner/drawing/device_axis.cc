#include "planner/drawing/device_axis.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/text/amounts.h"

namespace meshwright::planner {
namespace {

constexpr double kAxisMargin = 0.04;  // at each end, share of the width
constexpr double kLabelDigit = 7.0;   // width of a digit, pixels
constexpr double kLabelApart = 10.0;  // between labels, pixels

}  // namespace

DeviceAxis::DeviceAxis(double left, double width, std::vector<int64_t> sizes)
    : left_(left), width_(width), sizes_(std::move(sizes)) {}

double DeviceAxis::X(int64_t devices) const {
  const double low = std::log2(static_cast<double>(sizes_.front()));
  const double octaves = std::log2(static_cast<double>(sizes_.back())) - low;
  const double share =
      octaves > 0.0 ? (std::log2(static_cast<double>(devices)) - low) / octaves : 0.5;
  return left_ + width_ * (kAxisMargin + (1.0 - 2.0 * kAxisMargin) * share);
}

void DeviceAxis::Append(double bottom, std::string& svg) const {
  double free_from = 0.0;
  for (const int64_t size : sizes_) {
    const std::string label = Grouped(size);
    const double half = kLabelDigit * static_cast<double>(label.size()) / 2.0;
    if (X(size) - half < free_from) continue;
    free_from = X(size) + half + kLabelApart;
    absl::StrAppendFormat(&svg, "<text class=\"middle\" x=\"%.1f\" y=\"%.0f\">%s</text>\n", X(size),
                          bottom + 18.0, label);
  }
  absl::StrAppendFormat(&svg, "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\">devices (log)</text>\n",
                        left_ + width_ / 2.0, bottom + 34.0);
}

}  // namespace meshwright::planner

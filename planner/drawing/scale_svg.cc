#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "planner/drawing/answers_svg.h"
#include "planner/drawing/device_axis.h"
#include "planner/drawing/svg.h"
#include "planner/drawing/ticks.h"

namespace meshwright::planner {
namespace {

constexpr double kScaleLeft = 90.0;
constexpr double kScaleWidth = 760.0;
constexpr double kScaleTop = 34.0;
constexpr double kScaleHeight = 190.0;
constexpr double kScaleGap = DeviceAxis::kHeight + 44.0;
constexpr int kScaleTicks = 6;

struct Point {
  int64_t devices = 0;
  double value = 0.0;
};

// One quantity, from 0 upwards, over the number of devices.
class Panel {
 public:
  Panel(double top, const DeviceAxis& axis, std::vector<Point> points)
      : top_(top), axis_(axis), points_(std::move(points)) {
    double highest = 0.0;
    for (const Point& point : points_) highest = std::max(highest, point.value);
    if (highest <= 0.0) highest = 1.0;
    // A step above the highest value, so that one of its marks is above all points.
    ticks_ = LinearTicks(0.0, highest, kScaleTicks);
    if (ticks_.size() < 2) ticks_ = {0.0, highest};
    const double step = ticks_[1] - ticks_[0];
    if (ticks_.back() < highest) ticks_.push_back(ticks_.back() + step);
    top_value_ = std::max(ticks_.back(), highest) / kFilled;
  }

  void Append(std::string_view title, std::string_view colour, std::string& svg) const {
    absl::StrAppendFormat(&svg, "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                          kScaleLeft, top_ - 10.0, title);
    for (const double value : ticks_) {
      absl::StrAppendFormat(&svg,
                            "<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" "
                            "y2=\"%.1f\"/><text class=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                            kScaleLeft, Y(value), kScaleLeft + kScaleWidth, Y(value),
                            kScaleLeft - 8.0, Y(value) + 4.0, TickText(value));
    }
    std::string line;
    for (const Point& point : points_) {
      absl::StrAppendFormat(&line, "%s%.1f %.1f", line.empty() ? "M" : "L", axis_.X(point.devices),
                            Y(point.value));
    }
    absl::StrAppendFormat(&svg, "<path d=\"%s\" stroke=\"%s\"/>\n", line, colour);
    for (const Point& point : points_) {
      absl::StrAppendFormat(&svg,
                            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>%s "
                            "devices: %.4g</title></circle>\n",
                            axis_.X(point.devices), Y(point.value), colour, Grouped(point.devices),
                            point.value);
    }
    axis_.Append(top_ + kScaleHeight, svg);
    absl::StrAppendFormat(
        &svg, "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n",
        kScaleLeft, top_, kScaleWidth, kScaleHeight);
  }

 private:
  static constexpr double kFilled = 0.97;  // share of the height below the highest mark

  double Y(double value) const { return top_ + kScaleHeight * (1.0 - value / top_value_); }

  const double top_;
  const DeviceAxis& axis_;
  const std::vector<Point> points_;
  std::vector<double> ticks_;
  double top_value_ = 0.0;  // at the top of the frame
};

struct Quantity {
  std::string_view title;
  std::function<double(const ScalePoint&)> of;
};

std::vector<Quantity> QuantitiesOf(const ScaleAnswer& answer) {
  std::vector<Quantity> quantities = {
      {"Throughput, tokens/s per device",
       [](const ScalePoint& point) { return point.best->estimate.tokens_per_s_per_gpu; }},
      {"Exposed communication, bubble and waiting, % of a step",
       [](const ScalePoint& point) { return 100.0 * point.exposed; }}};
  if (std::any_of(answer.points.begin(), answer.points.end(),
                  [](const ScalePoint& point) { return point.energy.all_w > 0.0; })) {
    quantities.push_back(
        {"Power, W per device", [](const ScalePoint& point) { return point.energy.device_w; }});
    quantities.push_back({"Energy, tokens per joule",
                          [](const ScalePoint& point) { return point.energy.tokens_per_joule; }});
  }
  return quantities;
}

}  // namespace

std::string ScaleSvg(const ScaleAnswer& answer, const PictureOrigin& origin) {
  std::vector<int64_t> sizes;
  for (const ScalePoint& point : answer.points) {
    if (point.best) sizes.push_back(point.devices);
  }
  const std::vector<Quantity> quantities = QuantitiesOf(answer);
  const double height =
      kScaleTop + (kScaleHeight + kScaleGap) * static_cast<double>(quantities.size());
  std::string svg =
      OpenSvg(kScaleLeft + kScaleWidth + 40.0, height, "What more devices bring", origin);
  if (sizes.empty()) {
    absl::StrAppendFormat(&svg, "<text x=\"%.0f\" y=\"%.0f\">No size fits.</text>\n", kScaleLeft,
                          kScaleTop);
    return svg + "</svg>\n";
  }
  const DeviceAxis axis(kScaleLeft, kScaleWidth, sizes);
  for (size_t i = 0; i < quantities.size(); ++i) {
    std::vector<Point> points;
    for (const ScalePoint& point : answer.points) {
      if (point.best) points.push_back({point.devices, quantities[i].of(point)});
    }
    Panel(kScaleTop + (kScaleHeight + kScaleGap) * static_cast<double>(i), axis, std::move(points))
        .Append(quantities[i].title, kSvgColours[i], svg);
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace meshwright::planner

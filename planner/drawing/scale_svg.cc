#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "planner/drawing/answers_svg.h"
#include "planner/drawing/svg.h"

namespace meshwright::planner {
namespace {

constexpr double kScaleLeft = 90.0;
constexpr double kScaleWidth = 760.0;
constexpr double kScaleTop = 34.0;
constexpr double kScaleHeight = 190.0;
constexpr double kScaleGap = 74.0;

struct Point {
  double devices = 0.0;
  double value = 0.0;
};

// One quantity, from 0 upwards, over the logarithm of the number of devices.
class Panel {
 public:
  Panel(double top, std::vector<Point> points) : top_(top), points_(std::move(points)) {
    for (const Point& point : points_) highest_ = std::max(highest_, point.value);
    if (highest_ <= 0.0) highest_ = 1.0;
    low_ = std::log2(points_.front().devices);
    high_ = std::max(low_ + 1.0, std::log2(points_.back().devices));
  }

  void Append(std::string_view title, std::string_view colour, std::string& svg) const {
    absl::StrAppendFormat(&svg, "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                          kScaleLeft, top_ - 10.0, title);
    for (int tick = 0; tick <= 4; ++tick) {
      const double value = highest_ * tick / 4.0;
      absl::StrAppendFormat(&svg,
                            "<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" "
                            "y2=\"%.1f\"/><text class=\"end\" x=\"%.0f\" y=\"%.1f\">%.4g</text>\n",
                            kScaleLeft, Y(value), kScaleLeft + kScaleWidth, Y(value),
                            kScaleLeft - 8.0, Y(value) + 4.0, value);
    }
    std::string line;
    for (const Point& point : points_) {
      absl::StrAppendFormat(&line, "%s%.1f %.1f", line.empty() ? "M" : "L", X(point),
                            Y(point.value));
    }
    absl::StrAppendFormat(&svg, "<path d=\"%s\" stroke=\"%s\"/>\n", line, colour);
    for (const Point& point : points_) {
      absl::StrAppendFormat(&svg,
                            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>%.0f "
                            "devices: %.4g</title></circle><text class=\"middle\" x=\"%.1f\" "
                            "y=\"%.0f\">%.0f</text>\n",
                            X(point), Y(point.value), colour, point.devices, point.value, X(point),
                            top_ + kScaleHeight + 18.0, point.devices);
    }
    absl::StrAppendFormat(
        &svg, "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n",
        kScaleLeft, top_, kScaleWidth, kScaleHeight);
  }

 private:
  double X(const Point& point) const {
    return kScaleLeft +
           kScaleWidth * (0.04 + 0.92 * (std::log2(point.devices) - low_) / (high_ - low_));
  }
  double Y(double value) const { return top_ + kScaleHeight * (1.0 - 0.92 * value / highest_); }

  const double top_;
  const std::vector<Point> points_;
  double highest_ = 0.0;
  double low_ = 0.0;
  double high_ = 0.0;
};

}  // namespace

std::string ScaleSvg(const ScaleAnswer& answer) {
  struct Quantity {
    std::string_view title;
    std::function<double(const ScalePoint&)> of;
  };
  std::vector<Quantity> quantities = {
      {"Tokens a second and device, by devices",
       [](const ScalePoint& point) { return point.best->estimate.tokens_per_s_per_gpu; }},
      {"Exposed communication, bubble and waiting, % of a step",
       [](const ScalePoint& point) { return 100.0 * point.exposed; }}};
  if (std::any_of(answer.points.begin(), answer.points.end(),
                  [](const ScalePoint& point) { return point.energy.all_w > 0.0; })) {
    quantities.push_back(
        {"Tokens a joule", [](const ScalePoint& point) { return point.energy.tokens_per_joule; }});
  }
  const double height =
      kScaleTop + (kScaleHeight + kScaleGap) * static_cast<double>(quantities.size());
  std::string svg = OpenSvg(kScaleLeft + kScaleWidth + 40.0, height, "What more devices bring");
  for (size_t i = 0; i < quantities.size(); ++i) {
    std::vector<Point> points;
    for (const ScalePoint& point : answer.points) {
      if (!point.best) continue;
      points.push_back({static_cast<double>(point.devices), quantities[i].of(point)});
    }
    if (points.empty()) break;
    Panel(kScaleTop + (kScaleHeight + kScaleGap) * static_cast<double>(i), std::move(points))
        .Append(quantities[i].title, kSvgColours[i], svg);
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace meshwright::planner

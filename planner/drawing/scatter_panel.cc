#include "planner/drawing/scatter_panel.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_format.h"
#include "planner/drawing/ticks.h"

namespace meshwright::planner {
namespace {

constexpr double kBand = 0.1;  // half width of the shaded band, relative

}  // namespace

ScatterPanel::ScatterPanel(const PanelPlace& place, std::string_view unit,
                           std::vector<ScatterPoint> points)
    : place_(place), unit_(unit), points_(std::move(points)) {
  double low = points_.empty() ? 1.0 : points_.front().measured;
  double high = points_.empty() ? 10.0 : low;
  for (const ScatterPoint& point : points_) {
    low = std::min({low, point.measured, point.predicted});
    high = std::max({high, point.measured, point.predicted});
  }
  low_ = std::log10(low) - 0.08;
  high_ = std::log10(high) + 0.08;
}

double ScatterPanel::Share(double value) const {
  return (std::log10(value) - low_) / (high_ - low_);
}

void ScatterPanel::Append(std::string_view title, std::string_view none, std::string& svg) const {
  absl::StrAppendFormat(&svg, "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", place_.x,
                        place_.top - 12, title);
  if (!points_.empty()) {
    AppendTicks(svg);
    AppendAgreement(svg);
  } else {
    absl::StrAppendFormat(&svg, "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                          place_.x + place_.side / 2, place_.top + place_.side / 2, none);
  }
  absl::StrAppendFormat(
      &svg, "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n",
      place_.x, place_.top, place_.side, place_.side);
  for (const ScatterPoint& point : points_) AppendSpreads(point, svg);
  for (const ScatterPoint& point : points_) {
    absl::StrAppendFormat(&svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                          X(point.measured), Y(point.predicted), point.colour);
  }
  AppendAxisNames(svg);
}

void ScatterPanel::AppendTicks(std::string& svg) const {
  for (const double tick : LogTicks(std::pow(10.0, low_), std::pow(10.0, high_))) {
    const double x = X(tick);
    const double y = Y(tick);
    absl::StrAppendFormat(
        &svg,
        "<line class=\"grid\" x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.0f\"/>"
        "<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/>\n",
        x, place_.top, x, place_.top + place_.side, place_.x, y, place_.x + place_.side, y);
    absl::StrAppendFormat(&svg,
                          "<text class=\"middle\" x=\"%.1f\" y=\"%.0f\">%s</text>"
                          "<text class=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                          x, place_.top + place_.side + 18, TickText(tick), place_.x - 8, y + 4,
                          TickText(tick));
  }
}

void ScatterPanel::AppendAgreement(std::string& svg) const {
  // On logarithmic axes the band is a stripe along the diagonal; its corners are clipped by hand.
  const double shift_up = place_.side * std::log10(1.0 + kBand) / (high_ - low_);
  const double shift_down = place_.side * -std::log10(1.0 - kBand) / (high_ - low_);
  const double up = std::min(shift_up, place_.side);
  const double down = std::min(shift_down, place_.side);
  const double right = place_.x + place_.side;
  const double bottom = place_.top + place_.side;
  absl::StrAppendFormat(&svg,
                        "<polygon class=\"band\" points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f "
                        "%.1f,%.1f %.1f,%.1f\"/>\n",
                        place_.x, bottom, place_.x, bottom - up, right - up, place_.top, right,
                        place_.top, right, place_.top + down, place_.x + down, bottom);
  absl::StrAppendFormat(&svg,
                        "<line class=\"ideal\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>\n",
                        place_.x, bottom, right, place_.top);
}

void ScatterPanel::AppendSpreads(const ScatterPoint& point, std::string& svg) const {
  const double least = std::pow(10.0, low_);
  const double most = std::pow(10.0, high_);
  const auto line = [&](double x1, double y1, double x2, double y2) {
    absl::StrAppendFormat(
        &svg, "<line class=\"spread\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x1, y1,
        x2, y2);
  };
  if (const std::optional<Spread>& spread = point.measured_spread) {
    const double y = Y(point.predicted);
    line(X(std::max(spread->low, least)), y, X(std::min(spread->high, most)), y);
  }
  if (const std::optional<Spread>& spread = point.predicted_spread) {
    const double x = X(point.measured);
    line(x, Y(std::max(spread->low, least)), x, Y(std::min(spread->high, most)));
  }
}

void ScatterPanel::AppendAxisNames(std::string& svg) const {
  absl::StrAppendFormat(&svg,
                        "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\">measured, %s (log)</text>\n",
                        place_.x + place_.side / 2, place_.top + place_.side + 40, unit_);
  const double x = place_.x - 52;
  const double y = place_.top + place_.side / 2;
  absl::StrAppendFormat(&svg,
                        "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\" "
                        "transform=\"rotate(-90 %.0f %.0f)\">predicted, %s (log)</text>\n",
                        x, y, x, y, unit_);
}

}  // namespace meshwright::planner

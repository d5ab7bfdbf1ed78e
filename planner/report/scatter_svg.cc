#include "planner/report/scatter_svg.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "planner/report/svg.h"

namespace meshwright::planner {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr double kBand = 0.1;  // half width of the shaded band, relative

// Places, in pixels.
constexpr double kWidth = 1120.0;
constexpr double kSide = 440.0;  // of a panel
constexpr double kTop = 180.0;   // of both panels
constexpr double kLeftX = 80.0;
constexpr double kRightX = 640.0;
constexpr double kStripTop = 56.0;
constexpr double kStripHeight = 52.0;
constexpr double kLegendTop = kTop + kSide + 76.0;
constexpr double kLegendLine = 20.0;
constexpr double kMaxFraction = 1.6;  // right end of the strip; what lies beyond stands there

struct Series {
  std::string name;
  int64_t rows = 0;
};

// Colours by sweep, and the legend that explains them.
class Palette {
 public:
  explicit Palette(absl::Span<const RowPrediction> rows) {
    std::map<std::string, int64_t> counts;
    for (const RowPrediction& row : rows) {
      if (row.predicted) ++counts[row.sweep];
    }
    for (const auto& [name, count] : counts) series_.push_back({name, count});
    std::stable_sort(series_.begin(), series_.end(),
                     [](const Series& a, const Series& b) { return a.rows > b.rows; });
    for (size_t i = 0; i < std::min(series_.size(), kSvgColours.size()); ++i) {
      colours_[series_[i].name] = kSvgColours[i];
    }
  }

  std::string_view ColourOf(const std::string& sweep) const {
    const auto found = colours_.find(sweep);
    return found == colours_.end() ? kSvgOtherColour : found->second;
  }

  double LegendHeight() const {
    const size_t lines = (std::min(series_.size(), kSvgColours.size() + 1) + 1) / 2;
    return static_cast<double>(lines) * kLegendLine;
  }

  void AppendLegend(std::string& svg) const {
    const size_t shown = std::min(series_.size(), kSvgColours.size());
    for (size_t i = 0; i < shown; ++i) {
      const std::string& name = series_[i].name;
      AppendEntry(i, kSvgColours[i], name.empty() ? "(no name)" : name, series_[i].rows, svg);
    }
    if (series_.size() <= shown) return;
    int64_t others = 0;
    for (size_t i = shown; i < series_.size(); ++i) others += series_[i].rows;
    const size_t rest = series_.size() - shown;
    AppendEntry(shown, kSvgOtherColour,
                rest == 1 ? "1 other sweep" : absl::StrCat(rest, " other sweeps"), others, svg);
  }

 private:
  static void AppendEntry(size_t i, std::string_view colour, const std::string& name, int64_t rows,
                          std::string& svg) {
    const double x = i % 2 == 0 ? kLeftX : kRightX;
    const size_t line = i / 2;
    const double y = kLegendTop + static_cast<double>(line) * kLegendLine;
    absl::StrAppendFormat(&svg, "<circle cx=\"%.0f\" cy=\"%.0f\" r=\"5\" fill=\"%s\"/>\n", x + 5,
                          y - 4, colour);
    absl::StrAppendFormat(&svg, "<text x=\"%.0f\" y=\"%.0f\">%s (%d rows)</text>\n", x + 18, y,
                          SvgEscape(name), rows);
  }

  std::vector<Series> series_;
  std::map<std::string, std::string_view> colours_;
};

struct Point {
  double measured = 0.0;
  double predicted = 0.0;
  std::string_view colour;
};

// One square panel; both axes share their range, so that the diagonal is agreement.
class Panel {
 public:
  Panel(double x, std::string_view unit, std::vector<Point> points)
      : x_(x), unit_(unit), points_(std::move(points)) {
    double low = points_.empty() ? 1.0 : points_.front().measured;
    double high = points_.empty() ? 10.0 : low;
    for (const Point& point : points_) {
      low = std::min({low, point.measured, point.predicted});
      high = std::max({high, point.measured, point.predicted});
    }
    low_ = std::log10(low) - 0.08;
    high_ = std::log10(high) + 0.08;
  }

  void Append(std::string_view title, std::string_view none, std::string& svg) const {
    absl::StrAppendFormat(&svg, "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", x_,
                          kTop - 12, title);
    if (!points_.empty()) {
      AppendTicks(svg);
      AppendAgreement(svg);
    } else {
      absl::StrAppendFormat(&svg, "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                            x_ + kSide / 2, kTop + kSide / 2, none);
    }
    absl::StrAppendFormat(
        &svg, "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n", x_,
        kTop, kSide, kSide);
    for (const Point& point : points_) {
      absl::StrAppendFormat(&svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
                            X(point.measured), Y(point.predicted), point.colour);
    }
    AppendAxisNames(svg);
  }

 private:
  double Share(double value) const { return (std::log10(value) - low_) / (high_ - low_); }
  double X(double value) const { return x_ + kSide * Share(value); }
  double Y(double value) const { return kTop + kSide * (1.0 - Share(value)); }

  // The fewer decades, the more digits of each.
  std::vector<double> Ticks() const {
    const double decades = high_ - low_;
    std::vector<double> digits = {1.0, 2.0, 5.0};
    if (decades > 3.0) digits = {1.0};
    if (decades < 1.2) digits = {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0};
    std::vector<double> ticks;
    for (int decade = static_cast<int>(std::floor(low_)); decade <= high_; ++decade) {
      for (const double digit : digits) {
        const double value = digit * std::pow(10.0, decade);
        if (std::log10(value) >= low_ && std::log10(value) <= high_) ticks.push_back(value);
      }
    }
    return ticks;
  }

  void AppendTicks(std::string& svg) const {
    for (const double tick : Ticks()) {
      const double x = X(tick);
      const double y = Y(tick);
      absl::StrAppendFormat(
          &svg,
          "<line class=\"grid\" x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.0f\"/>"
          "<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/>\n",
          x, kTop, x, kTop + kSide, x_, y, x_ + kSide, y);
      absl::StrAppendFormat(&svg,
                            "<text class=\"middle\" x=\"%.1f\" y=\"%.0f\">%g</text>"
                            "<text class=\"end\" x=\"%.0f\" y=\"%.1f\">%g</text>\n",
                            x, kTop + kSide + 18, tick, x_ - 8, y + 4, tick);
    }
  }

  void AppendAgreement(std::string& svg) const {
    // On logarithmic axes the band is a stripe along the diagonal; the corners are cut off by hand.
    const double shift_up = kSide * std::log10(1.0 + kBand) / (high_ - low_);
    const double shift_down = kSide * -std::log10(1.0 - kBand) / (high_ - low_);
    const double up = std::min(shift_up, kSide);
    const double down = std::min(shift_down, kSide);
    const double right = x_ + kSide;
    const double bottom = kTop + kSide;
    absl::StrAppendFormat(
        &svg,
        "<polygon class=\"band\" points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f %.1f,%.1f "
        "%.1f,%.1f %.1f,%.1f\"/>\n",
        x_, bottom, x_, bottom - up, right - up, kTop, right, kTop, right, kTop + down, x_ + down,
        bottom);
    absl::StrAppendFormat(
        &svg, "<line class=\"ideal\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>\n", x_,
        bottom, right, kTop);
  }

  void AppendAxisNames(std::string& svg) const {
    absl::StrAppendFormat(&svg,
                          "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\">measured, %s</text>\n",
                          x_ + kSide / 2, kTop + kSide + 40, unit_);
    const double x = x_ - 52;
    const double y = kTop + kSide / 2;
    absl::StrAppendFormat(&svg,
                          "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\" "
                          "transform=\"rotate(-90 %.0f %.0f)\">predicted, %s</text>\n",
                          x, y, x, y, unit_);
  }

  double x_;
  std::string_view unit_;
  std::vector<Point> points_;
  double low_;  // log10 of the ends of both axes
  double high_;
};

double StripX(double fraction) {
  return kRightX + kSide * std::clamp(fraction / kMaxFraction, 0.0, 1.0);
}

void AppendStripAxis(std::string& svg) {
  for (const double fraction : {0.0, 0.4, 0.8, 1.0, 1.2, 1.6}) {
    const double x = StripX(fraction);
    const bool limit = fraction == 0.8 || fraction == 1.0;
    absl::StrAppendFormat(&svg,
                          "<line class=\"%s\" x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.0f\"/>\n",
                          limit ? "limit" : "grid", x, kStripTop, x, kStripTop + kStripHeight);
    absl::StrAppendFormat(&svg, "<text class=\"middle\" x=\"%.1f\" y=\"%.0f\">%s%.0f %%</text>\n",
                          x, kStripTop + kStripHeight + 16, fraction == kMaxFraction ? "≥ " : "",
                          fraction * 100.0);
  }
  absl::StrAppendFormat(&svg, "<text class=\"end\" x=\"%.0f\" y=\"%.0f\">out of memory</text>\n",
                        kRightX - 8, kStripTop + 17);
  absl::StrAppendFormat(&svg, "<text class=\"end\" x=\"%.0f\" y=\"%.0f\">fits</text>\n",
                        kRightX - 8, kStripTop + kStripHeight - 9);
  absl::StrAppendFormat(&svg,
                        "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">Predicted share of the "
                        "device</text>\n",
                        kRightX, kStripTop - 12);
  absl::StrAppendFormat(
      &svg, "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n",
      kRightX, kStripTop, kSide, kStripHeight);
}

// Rows of one kind share a lane, spread over three heights so that they hide each other less.
void AppendStrip(absl::Span<const RowPrediction> rows, const Palette& palette, std::string& svg) {
  AppendStripAxis(svg);
  for (const RowPrediction& row : rows) {
    if (!row.predicted) continue;
    const double x = StripX(row.predicted->fraction_of_device);
    const double spread = static_cast<double>(row.row % 3) * 6.0 - 6.0;
    const std::string_view colour = palette.ColourOf(row.sweep);
    if (row.outcome == RunOutcome::kOom) {
      const double y = kStripTop + 13 + spread;
      absl::StrAppendFormat(&svg, "<path d=\"M%.1f %.1fl6 6m0 -6l-6 6\" stroke=\"%s\"/>\n", x - 3,
                            y - 3, colour);
    } else if (row.outcome == RunOutcome::kOk) {
      absl::StrAppendFormat(&svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n", x,
                            kStripTop + kStripHeight - 13 + spread, colour);
    }
  }
}

void AppendHeading(absl::Span<const RowPrediction> rows, std::string& svg) {
  const auto modelled = std::count_if(
      rows.begin(), rows.end(), [](const RowPrediction& row) { return row.predicted.has_value(); });
  const std::string lines[] = {
      absl::StrFormat("%d measured runs, %d of them modelled; one colour per sweep", rows.size(),
                      modelled),
      "Panels: dashed, predicted = measured; shaded, within 10 %",
      "Strip: crosses ran out of memory, dots fit; dotted, 80 % and 100 %"};
  double y = kStripTop - 12;
  absl::StrAppendFormat(&svg,
                        "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">Predicted against measured"
                        "</text>\n",
                        kLeftX, y);
  for (const std::string& line : lines) {
    y += 20.0;
    absl::StrAppendFormat(&svg, "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n", kLeftX, y, line);
  }
}

}  // namespace

std::string ScatterSvg(absl::Span<const RowPrediction> rows) {
  const Palette palette(rows);
  std::vector<Point> times;
  std::vector<Point> peaks;
  for (const RowPrediction& row : rows) {
    if (!row.predicted) continue;
    const std::string_view colour = palette.ColourOf(row.sweep);
    if (row.step_s) times.push_back({*row.step_s, row.predicted->step_s, colour});
    if (row.peak_bytes) {
      const auto predicted = static_cast<double>(row.predicted->peak_bytes);
      peaks.push_back({*row.peak_bytes / kGib, predicted / kGib, colour});
    }
  }
  const double height = kLegendTop + palette.LegendHeight() + 10.0;
  std::string svg = OpenSvg(kWidth, height, "Predicted against measured step time and peak memory");
  AppendHeading(rows, svg);
  Panel(kLeftX, "s", std::move(times)).Append("Step time", "no measured step times", svg);
  Panel(kRightX, "GiB", std::move(peaks)).Append("Peak memory", "no measured memory peaks", svg);
  AppendStrip(rows, palette, svg);
  palette.AppendLegend(svg);
  svg += "</svg>\n";
  return svg;
}

}  // namespace meshwright::planner

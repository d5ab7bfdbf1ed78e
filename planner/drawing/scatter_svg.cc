#include "planner/drawing/scatter_svg.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "planner/drawing/scatter_panel.h"
#include "planner/drawing/svg.h"

namespace meshwright::planner {
namespace {

// Positions and sizes, in pixels.
constexpr double kScatterWidth = 1120.0;
constexpr double kScatterSide = 440.0;  // of a panel
constexpr double kScatterTop = 180.0;   // of both panels
constexpr double kScatterLeftX = 80.0;
constexpr double kScatterRightX = 640.0;
constexpr double kStripTop = 56.0;
constexpr double kStripHeight = 52.0;
constexpr double kLegendTop = kScatterTop + kScatterSide + 76.0;
constexpr double kLegendLine = 20.0;
constexpr double kMaxFraction = 1.6;  // right end of the strip; larger fractions are drawn there

struct Series {
  std::string name;
  int64_t rows = 0;
};

// Colours by sweep, and the legend for them.
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
    const double x = i % 2 == 0 ? kScatterLeftX : kScatterRightX;
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

double StripX(double fraction) {
  return kScatterRightX + kScatterSide * std::clamp(fraction / kMaxFraction, 0.0, 1.0);
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
                        kScatterRightX - 8, kStripTop + 17);
  absl::StrAppendFormat(&svg, "<text class=\"end\" x=\"%.0f\" y=\"%.0f\">fits</text>\n",
                        kScatterRightX - 8, kStripTop + kStripHeight - 9);
  absl::StrAppendFormat(&svg,
                        "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">Predicted share of the "
                        "device</text>\n",
                        kScatterRightX, kStripTop - 12);
  absl::StrAppendFormat(
      &svg, "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n",
      kScatterRightX, kStripTop, kScatterSide, kStripHeight);
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
                        kScatterLeftX, y);
  for (const std::string& line : lines) {
    y += 20.0;
    absl::StrAppendFormat(&svg, "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n", kScatterLeftX, y, line);
  }
}

}  // namespace

std::string ScatterSvg(absl::Span<const RowPrediction> rows, const PictureOrigin& origin) {
  const Palette palette(rows);
  std::vector<ScatterPoint> times;
  std::vector<ScatterPoint> peaks;
  for (const RowPrediction& row : rows) {
    if (!row.predicted) continue;
    const std::string_view colour = palette.ColourOf(row.sweep);
    if (row.step_s) times.push_back({*row.step_s, row.predicted->step_s, colour});
    if (row.peak_bytes) {
      const auto predicted = static_cast<double>(row.predicted->peak_bytes);
      peaks.push_back({*row.peak_bytes / kBytesPerGib, predicted / kBytesPerGib, colour});
    }
  }
  const double height = kLegendTop + palette.LegendHeight() + 10.0;
  std::string svg = OpenSvg(kScatterWidth, height,
                            "Predicted against measured step time and peak memory", origin);
  AppendHeading(rows, svg);
  ScatterPanel({kScatterLeftX, kScatterTop, kScatterSide}, "s", std::move(times))
      .Append("Step time", "no measured step times", svg);
  ScatterPanel({kScatterRightX, kScatterTop, kScatterSide}, "GiB", std::move(peaks))
      .Append("Peak memory", "no measured memory peaks", svg);
  AppendStrip(rows, palette, svg);
  palette.AppendLegend(svg);
  svg += "</svg>\n";
  return svg;
}

}  // namespace meshwright::planner

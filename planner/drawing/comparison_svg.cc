#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "planner/drawing/answers_svg.h"
#include "planner/drawing/svg.h"
#include "planner/report/explain.h"

namespace meshwright::planner {
namespace {

constexpr double kCompareLeft = 40.0;
constexpr double kComparePlot = 900.0;  // of the longest bar
constexpr double kLine = 22.0;
constexpr double kCompareBar = 16.0;
constexpr double kCompareRow = 46.0;  // a layout's name and its bar
constexpr double kCompareBottom = 16.0;
constexpr double kLimitName = 150.0;  // of a limit's name and value
constexpr double kValue = 70.0;       // of a bar's value and unit

struct Part {
  std::string_view name;
  double value = 0.0;
};

// The bars of one quantity: for each layout a name, a bar of parts, and its length as text.
class Bars {
 public:
  Bars(std::string_view title, std::string_view unit) : title_(title), unit_(unit) {}

  // Marks a value by a dotted line across all bars, with the name below them.
  void AddLimit(std::string_view name, double value) {
    limits_.push_back({name, value});
    longest_ = std::max(longest_, value);
  }

  void Add(std::string name, std::vector<Part> parts) {
    double length = 0.0;
    for (size_t i = 0; i < parts.size(); ++i) {
      length += parts[i].value;
      if (names_.size() <= i) names_.push_back(parts[i].name);
      if (used_.size() <= i) used_.push_back(false);
      used_[i] = used_[i] || parts[i].value > 0.0;
    }
    longest_ = std::max(longest_, length);
    rows_.push_back({std::move(name), std::move(parts), length});
  }

  double height() const {
    return 2.0 * kLine + kCompareRow * static_cast<double>(rows_.size()) + LimitsHeight() +
           kLine * LegendLines() + kLine;
  }

  void Append(double top, std::string& svg) const {
    absl::StrAppendFormat(&svg, "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                          kCompareLeft, top + kLine, title_);
    const double rows_top = top + 2.0 * kLine;
    const double bottom = rows_top + kCompareRow * static_cast<double>(rows_.size());
    AppendLimits(rows_top, bottom, svg);
    double y = rows_top;
    for (const Row& row : rows_) {
      AppendRow(row, y, svg);
      y += kCompareRow;
    }
    AppendLegend(bottom + LimitsHeight() + kLine / 2.0, svg);
  }

 private:
  struct Row {
    std::string name;
    std::vector<Part> parts;
    double length = 0.0;
  };

  static std::string_view ColourOf(size_t part) {
    return part < kSvgColours.size() ? kSvgColours[part] : kSvgOtherColour;
  }
  // Parts beyond the last colour share a grey in several strengths.
  static double OpacityOf(size_t part) {
    return part < kSvgColours.size() ? 1.0 : 0.35 + 0.13 * static_cast<double>(part % 5);
  }
  // Four names per line.
  double LegendLines() const {
    const int64_t lines = (std::count(used_.begin(), used_.end(), true) + 3) / 4;
    return static_cast<double>(lines);
  }

  double LengthOf(double value) const {
    return longest_ > 0.0 ? kComparePlot * value / longest_ : 0.0;
  }
  double LimitsHeight() const { return kLine * static_cast<double>(limits_.size()); }

  // Each name has a line of its own, so that close limits stay apart.
  void AppendLimits(double top, double bottom, std::string& svg) const {
    for (const Part& limit : limits_) {
      const double x = kCompareLeft + LengthOf(limit.value);
      // A name at the left of a line near the left edge would be cut.
      const bool is_right = x < kCompareLeft + kLimitName;
      absl::StrAppendFormat(&svg,
                            "<line class=\"limit\" x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" "
                            "y2=\"%.0f\"/><text class=\"%s\" x=\"%.1f\" y=\"%.0f\">%s: %.4g "
                            "%s</text>\n",
                            x, top, x, bottom + 12.0, is_right ? "" : "end",
                            is_right ? x + 4.0 : x - 4.0, bottom + 12.0, limit.name, limit.value,
                            unit_);
      bottom += kLine;
    }
  }

  void AppendRow(const Row& row, double y, std::string& svg) const {
    absl::StrAppendFormat(&svg, "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n", kCompareLeft, y + 12.0,
                          SvgEscape(row.name));
    double x = kCompareLeft;
    for (size_t i = 0; i < row.parts.size(); ++i) {
      const Part& part = row.parts[i];
      const double width = LengthOf(part.value);
      if (width <= 0.0) continue;
      absl::StrAppendFormat(&svg,
                            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" "
                            "fill=\"%s\" fill-opacity=\"%.2f\"><title>%s: %.4g %s</title></rect>\n",
                            x, y + 18.0, width, kCompareBar, ColourOf(i), OpacityOf(i), part.name,
                            part.value, unit_);
      x += width;
    }
    // Beside a limit's line, not on it.
    double value_x = x + 6.0;
    for (const Part& limit : limits_) {
      const double line_x = kCompareLeft + LengthOf(limit.value);
      if (line_x > x && line_x < value_x + kValue) value_x = line_x + 6.0;
    }
    absl::StrAppendFormat(&svg, "<text class=\"clear\" x=\"%.1f\" y=\"%.1f\">%.4g %s</text>\n",
                          value_x, y + 31.0, row.length, unit_);
  }

  void AppendLegend(double top, std::string& svg) const {
    int shown = 0;
    for (size_t i = 0; i < names_.size(); ++i) {
      if (!used_[i]) continue;
      const double x = kCompareLeft + 230.0 * (shown % 4);
      const int line = shown / 4;
      const double y = top + kLine * line;
      absl::StrAppendFormat(&svg,
                            "<rect x=\"%.0f\" y=\"%.0f\" width=\"12\" height=\"12\" fill=\"%s\" "
                            "fill-opacity=\"%.2f\"/><text x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                            x, y, ColourOf(i), OpacityOf(i), x + 18.0, y + 10.0, names_[i]);
      ++shown;
    }
  }

  const std::string_view title_;
  const std::string_view unit_;
  std::vector<Row> rows_;
  std::vector<std::string_view> names_;
  std::vector<bool> used_;  // by any layout
  std::vector<Part> limits_;
  double longest_ = 0.0;
};

}  // namespace

std::string ComparisonSvg(const CompareAnswer& answer, const PictureOrigin& origin) {
  Bars step("Time of one step, by part", "s");
  Bars memory("Memory of the fullest device, by part", "GiB");
  for (const ComparedLayout& compared : answer.layouts) {
    if (!compared.estimate) continue;
    const Estimate& estimate = compared.estimate->estimate;
    std::vector<Part> seconds;
    seconds.reserve(kTimeParts.size());
    for (const TimePart part : kTimeParts) seconds.push_back({PartName(part), estimate.time[part]});
    std::vector<Part> gib;
    for (const MemoryPart part : ShownParts(estimate)) {
      const int64_t bytes = std::max<int64_t>(0, PartBytes(estimate.memory, part));
      gib.push_back({PartName(part), static_cast<double>(bytes) / kBytesPerGib});
    }
    step.Add(compared.layout, std::move(seconds));
    memory.Add(absl::StrCat(compared.layout, compared.fits ? "" : " (does not fit)"),
               std::move(gib));
  }
  memory.AddLimit("allowed", static_cast<double>(answer.allowed_bytes) / kBytesPerGib);
  memory.AddLimit("device", static_cast<double>(answer.device_bytes) / kBytesPerGib);
  const double height = step.height() + memory.height() + kCompareBottom;
  std::string svg =
      OpenSvg(kCompareLeft + kComparePlot + 140.0, height, "Layouts side by side", origin);
  step.Append(0.0, svg);
  memory.Append(step.height(), svg);
  svg += "</svg>\n";
  return svg;
}

}  // namespace meshwright::planner

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "absl/strings/str_format.h"
#include "planner/drawing/answers_svg.h"
#include "planner/drawing/device_axis.h"
#include "planner/drawing/svg.h"
#include "planner/drawing/ticks.h"

namespace meshwright::planner {
namespace {

constexpr double kFastestLeft = 90.0;
constexpr double kFastestWidth = 760.0;
constexpr double kFastestTop = 64.0;
constexpr double kFastestHeight = 360.0;
constexpr double kLegend = 150.0;  // of one name
constexpr double kDay = 86400.0;
constexpr double kDaysMargin = 1.15;  // of the days above and below the curves, as a factor

double DaysOf(const SizedRun& run) { return run.seconds / kDay; }

std::vector<int64_t> SizesOf(const FastestAnswer& answer) {
  std::set<int64_t> sizes;
  for (const ShortestRun& strategy : answer.strategies) {
    for (const SizedRun& run : strategy.runs) sizes.insert(run.devices);
  }
  return {sizes.begin(), sizes.end()};
}

// Days of a run over the number of devices, both on logarithmic axes. REQUIRES: some run fits.
class Axes {
 public:
  explicit Axes(const FastestAnswer& answer)
      : devices_(kFastestLeft, kFastestWidth, SizesOf(answer)) {
    for (const ShortestRun& strategy : answer.strategies) {
      for (const SizedRun& run : strategy.runs) {
        if (!run.best) continue;
        low_ = low_ > 0.0 ? std::min(low_, DaysOf(run)) : DaysOf(run);
        high_ = std::max(high_, DaysOf(run));
      }
    }
    low_ /= kDaysMargin;
    high_ *= kDaysMargin;
  }

  double X(int64_t devices) const { return devices_.X(devices); }
  double Y(double days) const {
    return kFastestTop + kFastestHeight * (1.0 - std::log(days / low_) / std::log(high_ / low_));
  }

  void Append(std::string& svg) const {
    for (const double days : LogTicks(low_, high_)) {
      absl::StrAppendFormat(&svg,
                            "<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" "
                            "y2=\"%.1f\"/><text class=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                            kFastestLeft, Y(days), kFastestLeft + kFastestWidth, Y(days),
                            kFastestLeft - 8.0, Y(days) + 4.0, TickText(days));
    }
    const double x = kFastestLeft - 62.0;
    const double y = kFastestTop + kFastestHeight / 2.0;
    absl::StrAppendFormat(
        &svg,
        "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\" transform=\"rotate(-90 %.0f %.0f)\">days "
        "(log)</text>\n"
        "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n",
        x, y, x, y, kFastestLeft, kFastestTop, kFastestWidth, kFastestHeight);
    devices_.Append(kFastestTop + kFastestHeight, svg);
  }

 private:
  DeviceAxis devices_;
  double low_ = 0.0;  // days at the lower end
  double high_ = 0.0;
};

// Strategies often take the same time: dashes and small points let the lines below show.
constexpr std::array<std::string_view, kStrategyNames.size()> kDashes = {"none", "9 6", "3 5"};
constexpr std::array<double, kStrategyNames.size()> kRadii = {5.5, 4.0, 2.5};

void AppendLine(const ShortestRun& strategy, const Axes& axes, size_t index, std::string& svg) {
  const std::string_view colour = kSvgColours[index];
  std::string line;
  std::string points;
  for (const SizedRun& run : strategy.runs) {
    if (!run.best) continue;
    const double x = axes.X(run.devices);
    const double y = axes.Y(DaysOf(run));
    absl::StrAppendFormat(&line, "%s%.1f %.1f", line.empty() ? "M" : "L", x, y);
    absl::StrAppendFormat(
        &points,
        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"><title>%d devices, "
        "batch %d: %.3g days, %s</title></circle>\n",
        x, y, kRadii[index], colour, run.devices, run.global_batch, DaysOf(run),
        FormatLayout(run.best->layout));
  }
  if (!line.empty()) {
    absl::StrAppendFormat(&svg, "<path d=\"%s\" stroke=\"%s\" stroke-dasharray=\"%s\"/>\n", line,
                          colour, kDashes[index]);
  }
  svg += points;
}

}  // namespace

std::string FastestSvg(const FastestAnswer& answer, const PictureOrigin& origin) {
  std::string svg = OpenSvg(kFastestLeft + kFastestWidth + 40.0,
                            kFastestTop + kFastestHeight + DeviceAxis::kHeight + 14.0,
                            "Days of the shortest run by number of devices and strategy", origin);
  absl::StrAppendFormat(&svg,
                        "<text class=\"title\" x=\"%.0f\" y=\"24\">Days of a run, by devices, in "
                        "its best batch and layout</text>\n",
                        kFastestLeft);
  if (!answer.any_fits()) {
    absl::StrAppendFormat(&svg, "<text x=\"%.0f\" y=\"48\">No run fits.</text>\n", kFastestLeft);
    return svg + "</svg>\n";
  }
  const Axes axes(answer);
  axes.Append(svg);
  for (size_t i = 0; i < answer.strategies.size(); ++i) {
    const ShortestRun& strategy = answer.strategies[i];
    const double x = kFastestLeft + kLegend * static_cast<double>(i);
    absl::StrAppendFormat(&svg,
                          "<circle cx=\"%.0f\" cy=\"44\" r=\"5\" fill=\"%s\"/><text x=\"%.0f\" "
                          "y=\"48\">%s</text>\n",
                          x + 5.0, kSvgColours[i], x + 16.0,
                          meshwright::NameOf(kStrategyNames, strategy.strategy));
    AppendLine(strategy, axes, i, svg);
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace meshwright::planner

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "planner/drawing/answers_svg.h"
#include "planner/drawing/svg.h"

namespace meshwright::planner {
namespace {

constexpr double kFastestLeft = 90.0;
constexpr double kFastestWidth = 760.0;
constexpr double kFastestTop = 64.0;
constexpr double kFastestHeight = 360.0;
constexpr double kLegend = 150.0;  // of one name
constexpr double kDay = 86400.0;

// Days of a run over the number of devices, both on logarithmic axes.
class Axes {
 public:
  explicit Axes(const FastestAnswer& answer) {
    for (const ShortestRun& strategy : answer.strategies) {
      for (const SizedRun& run : strategy.runs) {
        if (run.best) Include(std::log2(DevicesOf(run)), std::log2(DaysOf(run)));
      }
    }
    low_y_ = std::floor(low_y_);
    high_y_ = std::max(low_y_ + 1.0, std::ceil(high_y_));
    high_x_ = std::max(low_x_ + 1.0, high_x_);
  }

  static double DevicesOf(const SizedRun& run) { return static_cast<double>(run.devices); }
  static double DaysOf(const SizedRun& run) { return run.seconds / kDay; }

  double X(double devices) const {
    return kFastestLeft +
           kFastestWidth * (0.04 + 0.92 * (std::log2(devices) - low_x_) / (high_x_ - low_x_));
  }
  double Y(double days) const {
    return kFastestTop + kFastestHeight * (1.0 - (std::log2(days) - low_y_) / (high_y_ - low_y_));
  }

  void Append(std::string& svg) const {
    for (int line = 0; low_y_ + line <= high_y_; ++line) {
      const double days = std::exp2(low_y_ + line);
      absl::StrAppendFormat(&svg,
                            "<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" "
                            "y2=\"%.1f\"/><text class=\"end\" x=\"%.0f\" y=\"%.1f\">%.4g</text>\n",
                            kFastestLeft, Y(days), kFastestLeft + kFastestWidth, Y(days),
                            kFastestLeft - 8.0, Y(days) + 4.0, days);
    }
    absl::StrAppendFormat(
        &svg, "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>\n",
        kFastestLeft, kFastestTop, kFastestWidth, kFastestHeight);
  }

 private:
  void Include(double x, double y) {
    low_x_ = any_ ? std::min(low_x_, x) : x;
    high_x_ = any_ ? std::max(high_x_, x) : x;
    low_y_ = any_ ? std::min(low_y_, y) : y;
    high_y_ = any_ ? std::max(high_y_, y) : y;
    any_ = true;
  }

  bool any_ = false;
  double low_x_ = 0.0;
  double high_x_ = 0.0;
  double low_y_ = 0.0;
  double high_y_ = 0.0;
};

void AppendLine(const ShortestRun& strategy, const Axes& axes, std::string_view colour,
                std::string& svg) {
  std::string line;
  std::string points;
  for (const SizedRun& run : strategy.runs) {
    if (!run.best) continue;
    const double x = axes.X(Axes::DevicesOf(run));
    const double y = axes.Y(Axes::DaysOf(run));
    absl::StrAppendFormat(&line, "%s%.1f %.1f", line.empty() ? "M" : "L", x, y);
    absl::StrAppendFormat(&points,
                          "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>%d devices, "
                          "batch %d: %.3g days, %s</title></circle>\n",
                          x, y, colour, run.devices, run.global_batch, Axes::DaysOf(run),
                          FormatLayout(run.best->layout));
  }
  if (!line.empty()) absl::StrAppendFormat(&svg, "<path d=\"%s\" stroke=\"%s\"/>\n", line, colour);
  svg += points;
}

// All strategies have the same sizes.
void AppendSizes(const FastestAnswer& answer, const Axes& axes, std::string& svg) {
  for (const SizedRun& run : answer.strategies.front().runs) {
    absl::StrAppendFormat(&svg, "<text class=\"middle\" x=\"%.1f\" y=\"%.0f\">%d</text>\n",
                          axes.X(static_cast<double>(run.devices)),
                          kFastestTop + kFastestHeight + 18.0, run.devices);
  }
}

}  // namespace

std::string FastestSvg(const FastestAnswer& answer) {
  std::string svg =
      OpenSvg(kFastestLeft + kFastestWidth + 40.0, kFastestTop + kFastestHeight + 40.0,
              "Days of the shortest run by number of devices and strategy");
  absl::StrAppendFormat(&svg,
                        "<text class=\"title\" x=\"%.0f\" y=\"24\">Days of a run, by devices, in "
                        "its best batch and layout</text>\n",
                        kFastestLeft);
  if (answer.any_fits()) {
    const Axes axes(answer);
    axes.Append(svg);
    AppendSizes(answer, axes, svg);
    for (size_t i = 0; i < answer.strategies.size(); ++i) {
      const ShortestRun& strategy = answer.strategies[i];
      const double x = kFastestLeft + kLegend * static_cast<double>(i);
      absl::StrAppendFormat(&svg,
                            "<circle cx=\"%.0f\" cy=\"44\" r=\"5\" fill=\"%s\"/><text x=\"%.0f\" "
                            "y=\"48\">%s</text>\n",
                            x + 5.0, kSvgColours[i], x + 16.0,
                            meshwright::NameOf(kStrategyNames, strategy.strategy));
      AppendLine(strategy, axes, kSvgColours[i], svg);
    }
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace meshwright::planner

#include "planner/drawing/sweep_drawing.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "planner/drawing/scatter_panel.h"
#include "planner/drawing/svg.h"
#include "planner/drawing/ticks.h"

namespace meshwright::planner {
namespace {

constexpr int kAxis = 40;  // characters

// Positions and sizes, in pixels.
constexpr double kSweepWidth = 1120.0;
constexpr double kSweepHeight = 570.0;
constexpr double kSweepSide = 440.0;  // of a panel
constexpr double kSweepTop = 60.0;
constexpr double kSweepLeftX = 80.0;
constexpr double kSweepRightX = 640.0;
constexpr double kMostTicks = 20.0;  // along the order of trials
constexpr int kMostStepTicks = 8;

struct Range {
  double low = 0.0;
  double high = 0.0;

  double Share(double value) const { return high > low ? (value - low) / (high - low) : 0.5; }
};

bool WasMeasured(const DrawnTrial& trial) { return trial.step_s.has_value(); }

// Returns the range of all measurements and their predictions.
Range RangeOf(absl::Span<const DrawnTrial> trials) {
  Range range;
  for (const DrawnTrial& trial : trials) {
    if (!trial.step_s) continue;
    for (const std::optional<double>& value : {trial.step_s, trial.predicted_s}) {
      if (!value) continue;
      range.low = range.high == 0.0 ? *value : std::min(range.low, *value);
      range.high = std::max(range.high, *value);
    }
  }
  return range;
}

// The left panel of a picture.
class Convergence {
 public:
  explicit Convergence(absl::Span<const DrawnTrial> trials)
      : trials_(trials), range_(RangeOf(trials)) {
    for (const DrawnTrial& trial : trials) {
      if (!trial.step_spread) continue;
      range_.low = std::min(range_.low, trial.step_spread->low);
      range_.high = std::max(range_.high, trial.step_spread->high);
    }
    const double margin = 0.08 * (range_.high - range_.low);
    range_.low -= margin;
    range_.high += margin;
  }

  void Append(std::string& svg) const {
    absl::StrAppendFormat(&svg,
                          "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">Step time by trial, and the "
                          "best so far</text>\n",
                          kSweepLeftX, kSweepTop - 12);
    AppendAxes(svg);
    std::string best_line;
    std::optional<double> best_s;
    for (size_t i = 0; i < trials_.size(); ++i) {
      const DrawnTrial& trial = trials_[i];
      if (!trial.step_s) {
        AppendFailure(i, trial, svg);
        continue;
      }
      AppendSpread(i, trial, svg);
      absl::StrAppendFormat(&svg,
                            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"><title>trial %d: "
                            "%.4g s</title></circle>\n",
                            X(i), Y(*trial.step_s), kSvgColours[0], trial.number, *trial.step_s);
      if (best_s) absl::StrAppendFormat(&best_line, "H%.1f", X(i));
      best_s = std::min(best_s.value_or(*trial.step_s), *trial.step_s);
      absl::StrAppendFormat(&best_line, "%s%.1f", best_line.empty() ? Move(i) : "V", Y(*best_s));
    }
    absl::StrAppendFormat(&svg, "<path d=\"%s\" stroke=\"%s\"/>\n", best_line, kSvgColours[2]);
  }

 private:
  double X(size_t i) const {
    return kSweepLeftX +
           kSweepSide * (static_cast<double>(i) + 0.5) / static_cast<double>(trials_.size());
  }
  double Y(double step_s) const { return kSweepTop + kSweepSide * (1.0 - range_.Share(step_s)); }
  std::string Move(size_t i) const { return absl::StrFormat("M%.1f ", X(i)); }

  void AppendAxes(std::string& svg) const {
    const auto every =
        static_cast<size_t>(std::ceil(static_cast<double>(trials_.size()) / kMostTicks));
    for (size_t i = 0; i < trials_.size(); i += every) {
      absl::StrAppendFormat(&svg, "<text class=\"middle\" x=\"%.1f\" y=\"%.0f\">%d</text>\n", X(i),
                            kSweepTop + kSweepSide + 18, i + 1);
    }
    for (const double step_s : LinearTicks(range_.low, range_.high, kMostStepTicks)) {
      absl::StrAppendFormat(&svg,
                            "<line class=\"grid\" x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\"/>"
                            "<text class=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                            kSweepLeftX, Y(step_s), kSweepLeftX + kSweepSide, Y(step_s),
                            kSweepLeftX - 8, Y(step_s) + 4, TickText(step_s));
    }
    absl::StrAppendFormat(
        &svg,
        "<rect class=\"frame\" x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"/>"
        "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\">trials in the order of their ends; a cross "
        "had no step; line: 95 %% interval</text>"
        "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\" transform=\"rotate(-90 %.0f %.0f)\">median "
        "step, s</text>\n",
        kSweepLeftX, kSweepTop, kSweepSide, kSweepSide, kSweepLeftX + kSweepSide / 2,
        kSweepTop + kSweepSide + 40, kSweepLeftX - 52, kSweepTop + kSweepSide / 2, kSweepLeftX - 52,
        kSweepTop + kSweepSide / 2);
  }
  void AppendSpread(size_t i, const DrawnTrial& trial, std::string& svg) const {
    if (!trial.step_spread) return;
    absl::StrAppendFormat(
        &svg, "<line class=\"spread\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", X(i),
        Y(trial.step_spread->low), X(i), Y(trial.step_spread->high));
  }
  void AppendFailure(size_t i, const DrawnTrial& trial, std::string& svg) const {
    absl::StrAppendFormat(&svg,
                          "<path d=\"M%.1f %.1fl8 8m0 -8l-8 8\" stroke=\"%s\"><title>trial %d: "
                          "%s</title></path>\n",
                          X(i) - 4, kSweepTop + 8, kSvgOtherColour, trial.number,
                          SvgEscape(trial.state));
  }

  absl::Span<const DrawnTrial> trials_;
  Range range_;
};

}  // namespace

std::vector<std::string> SweepLines(absl::Span<const DrawnTrial> trials) {
  std::vector<std::string> lines;
  if (std::count_if(trials.begin(), trials.end(), WasMeasured) < 2) return lines;
  const Range range = RangeOf(trials);
  const auto place = [&](double value) {
    return static_cast<size_t>(std::lround(range.Share(value) * (kAxis - 1)));
  };
  std::optional<double> best_s;
  for (const DrawnTrial& trial : trials) {
    if (!trial.step_s) {
      lines.push_back(absl::StrFormat("%5d  %s", trial.number, trial.state));
      continue;
    }
    std::string axis(kAxis, ' ');
    if (trial.predicted_s) axis[place(*trial.predicted_s)] = 'o';
    axis[place(*trial.step_s)] = '*';
    best_s = std::min(best_s.value_or(*trial.step_s), *trial.step_s);
    lines.push_back(absl::StrFormat("%5d  |%s|  %s, best %s", trial.number, axis,
                                    Seconds(*trial.step_s), Seconds(*best_s)));
  }
  return lines;
}

std::string SweepSvg(std::string_view title, absl::Span<const DrawnTrial> trials,
                     const PictureOrigin& origin) {
  std::vector<ScatterPoint> points;
  for (const DrawnTrial& trial : trials) {
    if (trial.step_s && trial.predicted_s) {
      points.push_back({.measured = *trial.step_s,
                        .predicted = *trial.predicted_s,
                        .colour = kSvgColours[0],
                        .measured_spread = trial.step_spread,
                        .predicted_spread = trial.predicted_spread});
    }
  }
  std::string svg = OpenSvg(kSweepWidth, kSweepHeight, title, origin);
  absl::StrAppendFormat(&svg, "<text class=\"title\" x=\"%.0f\" y=\"22\">%s</text>\n", kSweepLeftX,
                        SvgEscape(title));
  Convergence(trials).Append(svg);
  ScatterPanel({kSweepRightX, kSweepTop, kSweepSide}, "s", std::move(points))
      .Append("Predicted against measured step time", "no measured step times", svg);
  absl::StrAppendFormat(&svg,
                        "<text class=\"middle\" x=\"%.0f\" y=\"%.0f\">Lines: 95 %% interval of the "
                        "measured median, 80 %% interval of the prediction</text>\n</svg>\n",
                        kSweepRightX + kSweepSide / 2, kSweepTop + kSweepSide + 56);
  return svg;
}

}  // namespace meshwright::planner

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_format.h"
#include "planner/drawing/answers_svg.h"
#include "planner/drawing/svg.h"

namespace meshwright::planner {
namespace {

constexpr double kStudyLeft = 230.0;  // of the bars, to the right of their names
constexpr double kStudyPlot = 620.0;  // of the longest bar
constexpr double kStudyRow = 24.0;
constexpr double kStudyBar = 15.0;
constexpr double kStudyTitleLine = 20.0;  // of a recommendation
constexpr double kStudyLine = 16.0;       // of its verdict, or of why an arm has no bar
constexpr double kStudyGap = 18.0;
constexpr double kStudyWidth = kStudyLeft + kStudyPlot + 90.0;
constexpr double kStudyMargin = 16.0;

double Mfu(const Arm& arm) { return arm.best ? arm.best->estimate.mfu : 0.0; }

double HighestMfu(const StudyAnswer& answer) {
  double highest = 0.0;
  for (const Ablation& ablation : answer.ablations) {
    for (const Arm& arm : ablation.arms) highest = std::max(highest, Mfu(arm));
  }
  return highest > 0.0 ? highest : 1.0;
}

// Appends a line of text for each of `lines`, and returns the height of all.
double AppendLines(const std::vector<std::string>& lines, std::string_view kind, double x, double y,
                   double line_height, std::string& svg) {
  double height = 0.0;
  for (const std::string& line : lines) {
    absl::StrAppendFormat(&svg, "<text class=\"%s\" x=\"%.0f\" y=\"%.1f\">%s</text>\n", kind, x,
                          y + height + 12.0, SvgEscape(line));
    height += line_height;
  }
  return height;
}

// Returns the height of the arm.
double AppendArm(const Arm& arm, double highest, double y, std::string& svg) {
  absl::StrAppendFormat(&svg, "<text class=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                        kStudyLeft - 8.0, y + 12.0, SvgEscape(arm.name));
  if (!arm.best) {
    const double height =
        AppendLines(SvgLines(arm.problem, kStudyWidth - kStudyLeft - kStudyMargin), "", kStudyLeft,
                    y, kStudyLine, svg);
    return std::max(kStudyRow, height + kStudyRow - kStudyLine);
  }
  const double width = kStudyPlot * Mfu(arm) / highest;
  absl::StrAppendFormat(
      &svg,
      "<rect x=\"%.0f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" fill=\"%s\">"
      "<title>%s</title></rect><text x=\"%.1f\" y=\"%.1f\">%.1f %%</text>\n",
      kStudyLeft, y, width, kStudyBar, arm.recommended ? kSvgColours[0] : kSvgOtherColour,
      FormatLayout(arm.best->layout), kStudyLeft + width + 6.0, y + 12.0, 100.0 * Mfu(arm));
  return kStudyRow;
}

double AppendAblation(const Ablation& ablation, double highest, double y, std::string& svg) {
  const double top = y;
  const double width = kStudyWidth - 2.0 * kStudyMargin;
  y += AppendLines(SvgTitleLines(ablation.recommendation, width), "title", kStudyMargin, y,
                   kStudyTitleLine, svg);
  y += AppendLines(SvgLines(ablation.sentence, width), "", kStudyMargin, y, kStudyLine, svg) + 8.0;
  for (const Arm& arm : ablation.arms) y += AppendArm(arm, highest, y, svg);
  return y + kStudyGap - top;
}

}  // namespace

std::string StudySvg(const StudyAnswer& answer, const PictureOrigin& origin) {
  const double highest = HighestMfu(answer);
  std::string body;
  double y = kStudyGap;
  y += AppendLines(
      {"Bars: MFU of the fastest layout that fits with each choice; blue: recommended by "
       "arXiv 2311.05610"},
      "", kStudyMargin, y - kStudyLine / 2.0, kStudyLine, body);
  y += kStudyGap / 2.0;
  for (const Ablation& ablation : answer.ablations) y += AppendAblation(ablation, highest, y, body);
  return OpenSvg(kStudyWidth, y,
                 "MFU of the fastest layout with each choice, recommended ones coloured", origin) +
         body + "</svg>\n";
}

}  // namespace meshwright::planner

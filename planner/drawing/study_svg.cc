#include <algorithm>

#include "absl/strings/str_format.h"
#include "planner/drawing/answers_svg.h"
#include "planner/drawing/svg.h"

namespace meshwright::planner {
namespace {

constexpr double kStudyLeft = 230.0;  // of the bars, to the right of their names
constexpr double kStudyPlot = 620.0;  // of the longest bar
constexpr double kStudyRow = 24.0;
constexpr double kStudyBar = 15.0;
constexpr double kStudyHead = 44.0;  // a recommendation and its verdict
constexpr double kStudyGap = 18.0;

double Mfu(const Arm& arm) { return arm.best ? arm.best->estimate.mfu : 0.0; }

double HighestMfu(const StudyAnswer& answer) {
  double highest = 0.0;
  for (const Ablation& ablation : answer.ablations) {
    for (const Arm& arm : ablation.arms) highest = std::max(highest, Mfu(arm));
  }
  return highest > 0.0 ? highest : 1.0;
}

void AppendArm(const Arm& arm, double highest, double y, std::string& svg) {
  absl::StrAppendFormat(&svg, "<text class=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
                        kStudyLeft - 8.0, y + 12.0, SvgEscape(arm.name));
  if (!arm.best) {
    absl::StrAppendFormat(&svg, "<text x=\"%.0f\" y=\"%.1f\">%s</text>\n", kStudyLeft, y + 12.0,
                          SvgEscape(arm.problem));
    return;
  }
  const double width = kStudyPlot * Mfu(arm) / highest;
  absl::StrAppendFormat(
      &svg,
      "<rect x=\"%.0f\" y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" fill=\"%s\">"
      "<title>%s</title></rect><text x=\"%.1f\" y=\"%.1f\">%.1f %%</text>\n",
      kStudyLeft, y, width, kStudyBar, arm.recommended ? kSvgColours[0] : kSvgOtherColour,
      FormatLayout(arm.best->layout), kStudyLeft + width + 6.0, y + 12.0, 100.0 * Mfu(arm));
}

}  // namespace

std::string StudySvg(const StudyAnswer& answer) {
  double height = kStudyGap;
  for (const Ablation& ablation : answer.ablations) {
    height += kStudyHead + kStudyRow * static_cast<double>(ablation.arms.size()) + kStudyGap;
  }
  const double highest = HighestMfu(answer);
  std::string svg =
      OpenSvg(kStudyLeft + kStudyPlot + 90.0, height,
              "MFU of the fastest layout with each choice, recommended ones coloured");
  double y = kStudyGap;
  for (const Ablation& ablation : answer.ablations) {
    absl::StrAppendFormat(&svg,
                          "<text class=\"title\" x=\"16\" y=\"%.0f\">%s</text>\n"
                          "<text x=\"16\" y=\"%.0f\">%s</text>\n",
                          y + 12.0, SvgEscape(ablation.recommendation), y + 30.0,
                          SvgEscape(ablation.sentence));
    y += kStudyHead;
    for (const Arm& arm : ablation.arms) {
      AppendArm(arm, highest, y, svg);
      y += kStudyRow;
    }
    y += kStudyGap;
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace meshwright::planner

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "planner/drawing/answers_svg.h"
#include "planner/drawing/svg.h"

namespace meshwright::planner {
namespace {

constexpr double kFitLeft = 130.0;
constexpr double kFitPlot = 560.0;
constexpr double kFitWidth = 1180.0;
constexpr double kFitRow = 26.0;
constexpr double kFitBar = 16.0;
constexpr double kFitHead = 48.0;  // what is limited, and the sentence about it
constexpr double kFitGap = 22.0;

struct Row {
  std::string_view name;
  int64_t value = 0;
  std::string_view colour;
};

std::vector<Row> RowsOf(const Limit& limit) {
  std::vector<Row> rows;
  if (limit.asked) rows.push_back({"asked", *limit.asked, kSvgOtherColour});
  if (limit.largest) rows.push_back({"fits", *limit.largest, kSvgColours[0]});
  if (limit.next) rows.push_back({"does not fit", *limit.next, kSvgColours[2]});
  return rows;
}

std::string_view TitleOf(LimitKind kind) {
  switch (kind) {
    case LimitKind::kMicroBatch:
      return "Sequences of a micro-batch";
    case LimitKind::kSequence:
      return "Tokens of a sequence";
    case LimitKind::kDepth:
      break;
  }
  return "Layers of the model";
}

void AppendLimit(const Limit& limit, const std::string& sentence, double y, std::string& svg) {
  absl::StrAppendFormat(&svg,
                        "<text class=\"title\" x=\"16\" y=\"%.0f\">%s</text>\n"
                        "<text x=\"16\" y=\"%.0f\">%s</text>\n",
                        y + 12.0, TitleOf(limit.kind), y + 30.0, SvgEscape(sentence));
  const std::vector<Row> rows = RowsOf(limit);
  int64_t longest = 1;
  for (const Row& row : rows) longest = std::max(longest, row.value);
  y += kFitHead;
  for (const Row& row : rows) {
    const double width = kFitPlot * static_cast<double>(row.value) / static_cast<double>(longest);
    absl::StrAppendFormat(&svg,
                          "<text class=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text><rect x=\"%.0f\" "
                          "y=\"%.1f\" width=\"%.1f\" height=\"%.0f\" fill=\"%s\"/><text x=\"%.1f\" "
                          "y=\"%.1f\">%s</text>\n",
                          kFitLeft - 8.0, y + 12.0, row.name, kFitLeft, y, width, kFitBar,
                          row.colour, kFitLeft + width + 6.0, y + 12.0, Grouped(row.value));
    y += kFitRow;
  }
}

}  // namespace

std::string FitSvg(const FitAnswer& answer) {
  double height = kFitGap;
  for (const Limit& limit : answer.limits) {
    height += kFitHead + kFitRow * static_cast<double>(RowsOf(limit).size()) + kFitGap;
  }
  std::string svg = OpenSvg(kFitWidth, height, "The largest that fits, and the next that does not");
  double y = kFitGap;
  for (size_t i = 0; i < answer.limits.size(); ++i) {
    AppendLimit(answer.limits[i], answer.sentences[i], y, svg);
    y += kFitHead + kFitRow * static_cast<double>(RowsOf(answer.limits[i]).size()) + kFitGap;
  }
  svg += "</svg>\n";
  return svg;
}

}  // namespace meshwright::planner

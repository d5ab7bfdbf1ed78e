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
constexpr double kFitWidth = 860.0;
constexpr double kFitRow = 26.0;
constexpr double kFitBar = 16.0;
constexpr double kFitTitle = 24.0;  // what is limited
constexpr double kFitLine = 16.0;   // of the sentence about it
constexpr double kFitGap = 22.0;
constexpr double kFitMargin = 16.0;

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

// Returns the height of what it appends.
double AppendLimit(const Limit& limit, const std::string& sentence, double y, std::string& svg) {
  const double top = y;
  absl::StrAppendFormat(&svg, "<text class=\"title\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", kFitMargin,
                        y + 12.0, TitleOf(limit.kind));
  y += kFitTitle;
  for (const std::string& line : SvgLines(sentence, kFitWidth - 2.0 * kFitMargin)) {
    absl::StrAppendFormat(&svg, "<text x=\"%.0f\" y=\"%.0f\">%s</text>\n", kFitMargin, y + 6.0,
                          SvgEscape(line));
    y += kFitLine;
  }
  const std::vector<Row> rows = RowsOf(limit);
  int64_t longest = 1;
  for (const Row& row : rows) longest = std::max(longest, row.value);
  y += 8.0;
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
  return y + kFitGap - top;
}

}  // namespace

std::string FitSvg(const FitAnswer& answer, const PictureOrigin& origin) {
  std::string body;
  double y = kFitGap;
  for (size_t i = 0; i < answer.limits.size(); ++i) {
    y += AppendLimit(answer.limits[i], answer.sentences[i], y, body);
  }
  return OpenSvg(kFitWidth, y, "The largest that fits, and the next that does not", origin) + body +
         "</svg>\n";
}

}  // namespace meshwright::planner

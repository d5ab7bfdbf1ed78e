#include "planner/drawing/svg.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/text/string_view.h"
#include "base/text/utf8.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kStyle = R"(<style>
  text { font: 12px system-ui, sans-serif; fill: #59636e; }
  .title { font-size: 15px; font-weight: 600; fill: #1f2328; }
  .ground { fill: #ffffff; }
  .frame { fill: none; stroke: #59636e; }
  .grid { stroke: #e4e7eb; }
  .ideal { stroke: #1f2328; stroke-dasharray: 5 4; }
  .limit { stroke: #1f2328; stroke-dasharray: 2 3; }
  .spread { stroke: #59636e; stroke-opacity: 0.6; }
  .light { fill: #ffffff; font-size: 10px; }
  .small { font-size: 11px; }
  .clear { paint-order: stroke; stroke: #ffffff; stroke-width: 4px; }
  .band { fill: #59636e; fill-opacity: 0.13; }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  circle { fill-opacity: 0.65; }
  path { stroke-width: 1.5; stroke-opacity: 0.75; fill: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #9aa4af; }
    .title { fill: #e6e9ed; }
    .ground { fill: #14171c; }
    .frame, .spread { stroke: #9aa4af; }
    .grid { stroke: #2b3139; }
    .ideal, .limit { stroke: #e6e9ed; }
    .clear { stroke: #14171c; }
    .band { fill: #9aa4af; fill-opacity: 0.18; }
  }
</style>
)";

// Mean widths of a letter, in pixels. The letters are the reader's, so lines are kept a little
// short.
constexpr double kLetter = 6.4;
constexpr double kTitleLetter = 8.6;
constexpr double kOriginLine = 15.0;
constexpr double kOriginMargin = 16.0;  // left and right
constexpr double kOriginBelow = 8.0;

// Dublin Core is what viewers and indexers read of an SVG.
std::string Metadata(const PictureOrigin& origin) {
  return absl::StrCat(
      "<metadata><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" "
      "xmlns:dc=\"http://purl.org/dc/elements/1.1/\"><rdf:Description rdf:about=\"\">"
      "<dc:creator>Meshwright</dc:creator><dc:date>",
      SvgEscape(origin.date), "</dc:date><dc:subject>", SvgEscape(origin.question),
      "</dc:subject><dc:source>", SvgEscape(origin.command),
      "</dc:source></rdf:Description></rdf:RDF></metadata>\n");
}

std::vector<std::string> Lines(std::string_view text, double letters) {
  std::vector<std::string> lines;
  for (const absl::string_view word : absl::StrSplit(AbslView(text), ' ', absl::SkipEmpty())) {
    if (lines.empty() || static_cast<double>(lines.back().size() + 1 + word.size()) > letters) {
      lines.emplace_back(word);
    } else {
      absl::StrAppend(&lines.back(), " ", word);
    }
  }
  return lines;
}

}  // namespace

std::string OpenSvg(double width, double height, std::string_view label,
                    const PictureOrigin& origin) {
  const std::vector<std::string> lines =
      SvgLines(absl::StrCat("Meshwright, ", origin.date, ": ", origin.question),
               width - 2.0 * kOriginMargin);
  const double whole = height + kOriginLine * static_cast<double>(lines.size()) + kOriginBelow;
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
      "height=\"%.0f\" role=\"img\" aria-label=\"%s\">\n",
      width, whole, width, whole, SvgEscape(label));
  svg += Metadata(origin);
  svg.append(kStyle);
  svg += "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
  double y = height;
  for (const std::string& line : lines) {
    y += kOriginLine;
    absl::StrAppendFormat(&svg, "<text class=\"small\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
                          kOriginMargin, y - 3.0, SvgEscape(line));
  }
  return svg;
}

std::vector<std::string> SvgLines(std::string_view text, double width) {
  return Lines(text, width / kLetter);
}

std::vector<std::string> SvgTitleLines(std::string_view text, double width) {
  return Lines(text, width / kTitleLetter);
}

std::string SvgEscape(std::string_view text) {
  std::string escaped;
  for (const char c : ValidUtf8(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

}  // namespace meshwright::planner

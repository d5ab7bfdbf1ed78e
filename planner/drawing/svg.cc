#include "planner/drawing/svg.h"

#include "absl/strings/str_format.h"

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
  .band { fill: #59636e; fill-opacity: 0.13; }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  circle { fill-opacity: 0.65; }
  path { stroke-width: 1.5; stroke-opacity: 0.75; fill: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #9aa4af; }
    .title { fill: #e6e9ed; }
    .ground { fill: #14171c; }
    .frame { stroke: #9aa4af; }
    .grid { stroke: #2b3139; }
    .ideal, .limit { stroke: #e6e9ed; }
    .band { fill: #9aa4af; fill-opacity: 0.18; }
  }
</style>
)";

}  // namespace

std::string OpenSvg(double width, double height, std::string_view label) {
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
      "height=\"%.0f\" role=\"img\" aria-label=\"%s\">\n",
      width, height, width, height, SvgEscape(label));
  svg.append(kStyle);
  svg += "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n";
  return svg;
}

std::string SvgEscape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
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
      default:
        escaped += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return escaped;
}

}  // namespace meshwright::planner

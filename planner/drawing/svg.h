// Provides the parts that the reports' pictures share: colours, a style that follows the reader's
// light or dark setting, and text that is safe inside markup. The pictures are self-contained
// files.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace meshwright::planner {

// Categorical colours that are distinct on light and on dark backgrounds (Observable 10).
inline constexpr std::array<std::string_view, 8> kSvgColours = {
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#9c6b4e"};
inline constexpr std::string_view kSvgOtherColour = "#9498a0";

// Returns the beginning of a picture of `width` times `height` pixels, up to its background.
// `label` describes it to screen readers. Text may have the classes title, end and middle; lines
// and boxes may have frame, grid, ideal, limit and band. The caller appends "</svg>".
std::string OpenSvg(double width, double height, std::string_view label);

std::string SvgEscape(std::string_view text);

}  // namespace meshwright::planner

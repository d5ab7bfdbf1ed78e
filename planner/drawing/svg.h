// Provides the parts that the reports' pictures share: colours, a style that follows the reader's
// light or dark setting, the lines that say where a picture comes from, and text that is safe
// inside markup. The pictures are self-contained files.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "planner/drawing/picture_origin.h"

namespace meshwright::planner {

// Categorical colours that are distinct on light and on dark backgrounds (Observable 10).
inline constexpr std::array<std::string_view, 8> kSvgColours = {
    "#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#9c6b4e"};
inline constexpr std::string_view kSvgOtherColour = "#9498a0";

// Returns the beginning of a picture of `width` times `height` pixels, up to its background. The
// lines with the origin's question and date stand below, so the picture is higher than `height`.
// `label` describes it to screen readers. Text may have the classes title, end, middle, light and
// clear (with a margin that hides what is below); lines and boxes may have frame, grid, ideal,
// limit, spread and band. The caller appends "</svg>".
std::string OpenSvg(double width, double height, std::string_view label,
                    const PictureOrigin& origin);

std::string SvgEscape(std::string_view text);

// Returns `text` in lines that are at most about `width` pixels long in the pictures' letters of
// 12 pixels, or in those of titles. A word that is longer has a line of its own.
std::vector<std::string> SvgLines(std::string_view text, double width);
std::vector<std::string> SvgTitleLines(std::string_view text, double width);

}  // namespace meshwright::planner

// PrintProse() prints sentences as a paragraph.
#pragma once

#include <ostream>
#include <string_view>

namespace meshwright::cli {

// Prints `text` in lines of at most 80 columns, which break between words, but not between a number
// and its unit; a word that is wider stays whole. The first line keeps the blanks at the beginning
// of `text`; `indent` is the number of blanks before each further line.
void PrintProse(std::string_view text, std::ostream& out, int indent = 0);

}  // namespace meshwright::cli

// TextStyle says how much of an answer a command prints as text. JSON always has everything.
#pragma once

#include <string>
#include <string_view>

#include "planner/layout/layout.h"
#include "planner/search/ranked_layout.h"

namespace meshwright::cli {

struct TextStyle {
  bool details = false;        // everything that is known, in addition to the answer
  bool whole_layouts = false;  // layouts with all keys, also those that have their defaults
};

// Returns the layout with the keys that the style asks for, followed by the options in which it
// differs from the query, if there are any.
std::string LayoutText(const planner::Layout& layout, const TextStyle& style);
std::string LayoutText(const planner::RankedLayout& ranked, const TextStyle& style);
// `text` is a layout's text form. Any other text is returned unchanged.
std::string LayoutText(std::string_view text, const TextStyle& style);
// Returns the sentence with each layout in it written as the style asks for.
std::string SentenceText(std::string_view sentence, const TextStyle& style);

}  // namespace meshwright::cli

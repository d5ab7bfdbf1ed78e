// Occurrences() counts what a picture has of something.
#pragma once

#include <cstddef>
#include <string_view>

namespace meshwright::planner {

// Returns how often `part` occurs in `text`.
inline size_t Occurrences(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

}  // namespace meshwright::planner

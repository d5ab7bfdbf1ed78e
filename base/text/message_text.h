// Writes texts for messages: text from outside, escaped and shortened, and lists in words.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace meshwright {

// Returns `text` with everything that a terminal, a shell or a line reader would interpret (control
// characters, and bytes that are not UTF-8) written as \n, \r, \t or \x1b.
std::string EscapeControls(std::string_view text);

// Returns `text`, or as much of it as fits into `most_bytes` followed by "... (N bytes)"; UTF-8 is
// cut between characters.
std::string ShortText(std::string_view text, size_t most_bytes);

// Returns the texts as in "a, b or c", where `last` is "or". `Texts` is a list of anything that
// converts to std::string_view.
template <typename Texts>
std::string ListInWords(const Texts& texts, std::string_view last) {
  std::string words;
  size_t left = std::size(texts);
  for (const std::string_view text : texts) {
    words.append(text);
    --left;
    if (left > 1) words.append(", ");
    if (left == 1) words.append(" ").append(last).append(" ");
  }
  return words;
}

}  // namespace meshwright

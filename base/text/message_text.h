// These functions format text for messages: they escape and shorten text from outside, and write
// lists in words.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

namespace meshwright {

// Returns `text` with control characters and bytes that are not UTF-8 written as escapes, such as
// \n, \r, \t or \x1b, so that no terminal, shell or line reader interprets them.
std::string EscapeControls(std::string_view text);

// Returns `text` if it has at most `most_bytes`. Otherwise returns its first `most_bytes`, or fewer
// so as not to cut a UTF-8 character, followed by "... (N bytes)".
std::string ShortText(std::string_view text, size_t most_bytes);

// Returns the texts as a list in words, such as "a, b or c" if `last` is "or". `Texts` is a list of
// anything that converts to std::string_view.
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

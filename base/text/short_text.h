// Shortens text from outside for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace meshwright {

// Returns `text`, or as much of it as fits into `most_bytes` followed by "... (N bytes)"; UTF-8 is
// cut between characters.
std::string ShortText(std::string_view text, size_t most_bytes);

}  // namespace meshwright

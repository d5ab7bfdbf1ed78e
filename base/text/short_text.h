// Text that others wrote, short enough to stand in a message.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace meshwright {

// `text`, or what of it fits into `most_bytes` followed by "... (N bytes)"; UTF-8 is cut between
// characters.
std::string ShortText(std::string_view text, size_t most_bytes);

}  // namespace meshwright

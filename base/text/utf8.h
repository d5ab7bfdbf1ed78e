// Repairs text from outside for protobuf and JSON, both of which reject a message for one bad byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace meshwright {

// Returns `text` with U+FFFD in place of what is not UTF-8: one for each byte that begins no
// character, and one for the bytes of each incomplete character. Valid text is returned unchanged.
std::string ValidUtf8(std::string_view text);

// Returns the number of bytes of the character that `text` begins with, or 0 if `text` is empty or
// begins with no valid character.
size_t CharacterBytes(std::string_view text);

}  // namespace meshwright

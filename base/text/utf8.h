// ValidUtf8() repairs text from outside for protobuf and JSON, which both reject a message because
// of one bad byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace meshwright {

// Returns `text` with U+FFFD in place of invalid UTF-8: one for each byte that begins no character,
// and one for the bytes of each incomplete character. Valid text is returned unchanged.
std::string ValidUtf8(std::string_view text);

// Returns the number of bytes of the first character of `text`, or 0 if `text` is empty or does not
// begin with a valid character.
size_t CharacterBytes(std::string_view text);

}  // namespace meshwright

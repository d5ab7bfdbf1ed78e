// Text from outside as text that can't do more than be read.
#pragma once

#include <string>
#include <string_view>

namespace meshwright {

// What a terminal, a shell or a reader of lines would take for more than text is written as \n, \r,
// \t or \x1b: control characters, and bytes that are not UTF-8.
std::string EscapeControls(std::string_view text);

}  // namespace meshwright

// Escapes text from outside so that it can only be read.
#pragma once

#include <string>
#include <string_view>

namespace meshwright {

// Returns `text` with everything that a terminal, a shell or a line reader would interpret (control
// characters, and bytes that are not UTF-8) written as \n, \r, \t or \x1b.
std::string EscapeControls(std::string_view text);

}  // namespace meshwright

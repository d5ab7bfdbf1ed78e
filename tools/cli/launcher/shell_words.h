// ShellLine() quotes words for a POSIX shell.
#pragma once

#include <string>
#include <vector>

namespace meshwright::cli {

// Returns a line that the shell reads as these words. Words of letters, digits and a few harmless
// signs are unquoted, all others in single quotes.
std::string ShellLine(const std::vector<std::string>& words);

}  // namespace meshwright::cli

// Words as a line that a POSIX shell reads as those words again.
#pragma once

#include <string>
#include <vector>

namespace meshwright::cli {

// Words of letters, digits and a few harmless signs stand as they are, all others in single quotes.
std::string ShellLine(const std::vector<std::string>& words);

}  // namespace meshwright::cli

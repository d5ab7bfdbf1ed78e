// CommandWords() splits a command line into words as a shell does, but expands nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::command {

// Returns the words, which are separated by blanks. Quotes and backslashes keep blanks and special
// characters in a word. Returns InvalidArgument for `command` if (1) a quote is not closed, or (2)
// the line has a character that makes a shell do more than start one program: one of $ ` ; & | < >
// ( ) outside of quotes, or $ or ` in double quotes.
absl::StatusOr<std::vector<std::string>> CommandWords(std::string_view line);

}  // namespace meshwright::command

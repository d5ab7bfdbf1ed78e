// CommandWords() cuts a command line into words as a shell does that expands nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::command {

// Returns the words. Blanks separate them; quotes and a backslash keep characters in a word as they
// are. Returns InvalidArgument about `command` if a quote does not end, or if the line has a
// character by which a shell would do more than start one program: one of $ ` ; & | < > ( ) outside
// of quotes, or $ and ` in double quotes.
absl::StatusOr<std::vector<std::string>> CommandWords(std::string_view line);

}  // namespace meshwright::command

// The names that the placeholders in the commands' flags stand for: MODEL, CLUSTER and PROFILE the
// presets of that kind, PRESET those of the kind that the line names.
#pragma once

#include <string>
#include <vector>

namespace meshwright::cli {

// As command_line/completion.h asks for them.
std::vector<std::string> PlaceholderNames(const std::string& placeholder,
                                          const std::vector<std::string>& words);

}  // namespace meshwright::cli

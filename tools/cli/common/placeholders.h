// Expansion of the placeholders in the commands' flags: MODEL, CLUSTER and PROFILE stand for the
// presets of that kind, PRESET for those of the kind that the line names.
#pragma once

#include <string>
#include <vector>

namespace meshwright::cli {

// Has the form of command_line::Placeholders (tools/command_line/completion.h).
std::vector<std::string> PlaceholderNames(const std::string& placeholder,
                                          const std::vector<std::string>& words);

}  // namespace meshwright::cli

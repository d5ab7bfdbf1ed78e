// --plot FILE.svg of the commands that draw their answer.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "tools/cli/io/command_files.h"

namespace meshwright::cli {

void AddPlot(CLI::App& app, std::string& path, const std::string& what);

// As CommandFiles::Claim(); InvalidArgument for a path that does not end in .svg.
absl::StatusOr<OutputFile> ClaimPlot(CommandFiles& files, const std::string& path);

}  // namespace meshwright::cli

// These functions add and read the flag --plot of commands that draw their answer, and say where a
// drawing comes from.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "planner/drawing/picture_origin.h"
#include "tools/cli/common/context.h"
#include "tools/cli/io/command_files.h"

namespace meshwright::cli {

// Adds --plot FILE.svg, for a command that draws its answer. `what` is the flag's description.
void AddPlot(CLI::App& app, std::string& path, const std::string& what);

// Claims the file of --plot as CommandFiles::Claim() does. Returns InvalidArgument if the path does
// not end in .svg.
absl::StatusOr<OutputFile> ClaimPlot(CommandFiles& files, const std::string& path);

// Returns the origin of a picture that the running command draws today of the question.
planner::PictureOrigin OriginOf(std::string question, const CommandContext& context);

}  // namespace meshwright::cli

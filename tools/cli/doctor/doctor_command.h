// `meshwright doctor`: checks whether this machine can run trials and reach its server, and says
// what is wrong and what to do about it.
#pragma once

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// The context outlives the app.
void AddDoctorCommand(CLI::App& app, CommandContext& context);

}  // namespace meshwright::cli

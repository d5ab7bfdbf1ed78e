// The command line as a whole.
#pragma once

#include "tools/cli/context.h"

namespace meshwright {

// Parses the arguments, runs the command that they name and returns the exit code.
int RunCommandLine(int argc, const char* const* argv, CommandContext& context);

}  // namespace meshwright

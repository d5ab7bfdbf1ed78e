// FollowSweep() shows a sweep's events until the sweep has ended or the user detaches.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

// Shows the events whose sequence is above `after`: as a progress bar on a terminal, as lines in a
// pipe, or as one JSON object per line if `format` is kJson. After a lost connection, continues
// with the next event. Sets the exit code: kExitOk for a finished sweep, and kExitFailed for a
// cancelled sweep. After a signal that StopRequest takes, such as Ctrl-C, sets the signal's exit
// code and prints how to resume.
absl::Status FollowSweep(const ServerFlags& server, const std::string& sweep, int64_t after,
                         OutputFormat format, CommandContext& context);

}  // namespace meshwright::cli

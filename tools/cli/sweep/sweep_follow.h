// Follows a sweep's events on the terminal until it has ended or the user detaches.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

// Shows the events whose sequence is above `after`: as a progress bar on a terminal, as lines in a
// pipe, or as one JSON object per line if `format` is kJson. Resumes a lost connection where it
// broke. Sets the exit code: kExitOk for a finished sweep, kExitFailed for a cancelled one. After
// Ctrl-C or SIGTERM, it is that of the signal, and the command prints how to resume.
absl::Status FollowSweep(const ServerFlags& server, const std::string& sweep, int64_t after,
                         OutputFormat format, CommandContext& context);

}  // namespace meshwright::cli

// Follows a sweep's events on the terminal until it has ended or the user detaches.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

// Shows events with a sequence above `after`: as a progress bar on a terminal, lines in a pipe, or
// one JSON object per line with json. A lost connection is resumed where it broke. Sets the exit
// code: ok for a finished sweep, failed for a cancelled one, the signal's after Ctrl-C or SIGTERM,
// when it prints how to resume.
absl::Status FollowSweep(const ServerFlags& server, const std::string& sweep, int64_t after,
                         OutputFormat format, CommandContext& context);

}  // namespace meshwright::cli

// Follows a sweep's events on the terminal until it has ended or the user detaches.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

// Events with a sequence above `after` are shown: a progress bar on a terminal, lines in a pipe,
// one JSON object a line under json. A lost connection is taken up again where it broke. Sets the
// exit code: ok for a finished sweep, failed for a cancelled one, that of the signal after Ctrl-C
// or SIGTERM, which says how to resume.
absl::Status FollowSweep(const ServerFlags& server, const std::string& sweep, int64_t after,
                         OutputFormat format, CommandContext& context);

}  // namespace meshwright::cli

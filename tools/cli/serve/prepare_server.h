// PrepareServer() readies this process for a server.
#pragma once

#include "base/system/log.h"
#include "server/server.h"
#include "tools/cli/common/context.h"

namespace meshwright::cli {

// Raises the process's limit on descriptors, quiets gRPC's own log, and returns the options that
// follow from this machine and program: clocks, cores, version and log.
server::ServerOptions PrepareServer(const CommandContext& context, const LogFunction& log);

}  // namespace meshwright::cli

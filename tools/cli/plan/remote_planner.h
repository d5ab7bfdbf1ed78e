// The planner of a running server.
#pragma once

#include <memory>
#include <string>

#include "tools/cli/plan/planner_api.h"

namespace meshwright::cli {

// `server` is HOST:PORT; every call connects anew and fails with a sentence for people. The context
// outlives it.
std::unique_ptr<PlannerApi> RemotePlanner(const std::string& server, const CommandContext& context);

}  // namespace meshwright::cli

// The planner of a running server.
#pragma once

#include <memory>

#include "tools/cli/plan/planner_api.h"

namespace meshwright::cli {

// Every call connects anew and fails with a sentence for people. The context outlives the planner.
std::unique_ptr<PlannerApi> RemotePlanner(const ServerFlags& server, const CommandContext& context);

}  // namespace meshwright::cli

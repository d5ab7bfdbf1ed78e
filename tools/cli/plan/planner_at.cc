#include "tools/cli/plan/planner_api.h"
#include "tools/cli/plan/remote_planner.h"

namespace meshwright::cli {

std::unique_ptr<PlannerApi> PlannerAt(const ServerFlags& server, const CommandContext& context) {
  return server.empty() ? LocalPlanner(context) : RemotePlanner(server, context);
}

}  // namespace meshwright::cli

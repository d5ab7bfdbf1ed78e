#include "tools/cli/planner_api.h"
#include "tools/cli/remote_planner.h"

namespace meshwright {

std::unique_ptr<PlannerApi> PlannerAt(const std::string& server, const CommandContext& context) {
  return server.empty() ? LocalPlanner(context.host_cores, context.interrupted)
                        : RemotePlanner(server, context.interrupted);
}

}  // namespace meshwright

#include "tools/cli/planner_api.h"
#include "tools/cli/remote_planner.h"

namespace meshwright {

std::unique_ptr<PlannerApi> PlannerAt(const std::string& server, int32_t host_cores) {
  return server.empty() ? LocalPlanner(host_cores) : RemotePlanner(server);
}

}  // namespace meshwright

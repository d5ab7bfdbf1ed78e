#include "tools/cli/planner_api.h"

namespace meshwright {

std::unique_ptr<PlannerApi> PlannerAt(const std::string& server, int32_t host_cores) {
  (void)server;
  return LocalPlanner(host_cores);
}

}  // namespace meshwright

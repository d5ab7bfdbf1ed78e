#include "tools/cli/common/fingerprint_warning.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "planner/catalog/catalog.h"

namespace meshwright::cli {

void WarnOfOtherMachines(const planner::ClusterSpec& cluster, const std::vector<v1::Agent>& agents,
                         std::ostream& err) {
  constexpr int32_t kAnyCores = 1;
  for (const v1::Agent& agent : agents) {
    if (agent.cluster_json().empty()) continue;
    const absl::StatusOr<planner::ClusterSpec> measured =
        planner::ClusterFromJson(agent.cluster_json(), kAnyCores);
    if (!measured.ok()) continue;
    const std::vector<std::string> differences =
        planner::DifferencesFrom(cluster.fingerprint, measured->fingerprint);
    if (differences.empty()) continue;
    err << "warning: agent " << agent.name() << " differs from the machine on which "
        << cluster.name << " was measured: " << absl::StrJoin(differences, "; ") << "\n";
  }
}

}  // namespace meshwright::cli

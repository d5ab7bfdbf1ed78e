// JobSet() writes the JobSet of a job on Kubernetes, which runs an agent on each of its nodes.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "nlohmann/json_fwd.hpp"
#include "tools/cli/launcher/agent_fleet.h"

namespace meshwright::cli {

// KubernetesFlags holds the settings of pods that the user may change. Empty texts stand for the
// cluster's defaults.
struct KubernetesFlags {
  std::string image = {};        // has `meshwright` in its PATH
  std::string name_space = {};   // if empty, that of the service account, or kubectl's current one
  std::string secret = {};       // the secret that is mounted at kSecretFolder; may be empty
  std::string kueue_queue = {};  // the local queue in which Kueue admits the JobSet
  std::string cpu = {};          // of a pod, as a quantity of Kubernetes; default: a CPU per rank
  std::string memory = {};       // of a pod, such as 64Gi
  std::string rdma_resource = {};  // NAME=N, such as rdma/hca_shared_devices_a=1
  std::string topology_key = {};   // label of nodes whose value all nodes of a job share
};

inline constexpr char kSecretFolder[] = "/etc/meshwright";
// Labels of a JobSet and its pods: the fleet's name, and the job's name.
inline constexpr char kFleetLabel[] = "app.kubernetes.io/instance";
inline constexpr char kJobLabel[] = "meshwright-job";
// Annotation of a JobSet: FleetLaunch::owner.
inline constexpr char kOwnerAnnotation[] = "meshwright-owner";

// Returns InvalidArgument, which names the flag, if Kubernetes would refuse the value of a flag.
absl::Status Check(const AgentFleet& fleet, const KubernetesFlags& flags);

// Identifies one JobSet of a fleet.
struct JobSetIdentity {
  std::string job;         // one of JobNames()
  std::string name;        // of the JobSet
  std::string owner = {};  // FleetLaunch::owner
  // Whether a launcher replaces a JobSet that has ended. If so, the JobSet ends when an agent
  // ends; otherwise Kubernetes starts an agent again that fails or whose node is lost.
  bool is_launched = false;
};

// Returns a jobset.x-k8s.io/v1alpha2 JobSet. It depends on the arguments alone. It has a Job of one
// pod for each agent. No two agents of the fleet share a node. A JobSet for Kueue is suspended
// until Kueue admits it.
nlohmann::ordered_json JobSet(const AgentFleet& fleet, const KubernetesFlags& flags,
                              const JobSetIdentity& identity);

// Returns a List of the JobSets of all jobs, in JSON, for `kubectl apply`. No launcher replaces
// them, and each is named after its job.
std::string JobSets(const AgentFleet& fleet, const KubernetesFlags& flags);

}  // namespace meshwright::cli

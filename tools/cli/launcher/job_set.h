// Writes the JobSet that runs one agent on each of several nodes of a Kubernetes cluster.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/launcher/agent_fleet.h"

namespace meshwright::cli {

struct KubernetesFlags {
  std::string image;       // has `meshwright` in its PATH
  std::string name_space;  // empty: kubectl's current one
  std::string secret;      // mounted at kSecretFolder; empty: none
};

inline constexpr char kSecretFolder[] = "/etc/meshwright";

// InvalidArgument about a flag that Kubernetes would refuse.
absl::Status Check(const AgentFleet& fleet, const KubernetesFlags& flags);

// Returns a jobset.x-k8s.io/v1alpha2 JobSet, in JSON, for `kubectl apply`; deterministic in its
// arguments. Its one Job is indexed: pods count from 0, agents are named by their pod's index, no
// two share a node, and a pod that fails or is lost is recreated.
std::string JobSet(const AgentFleet& fleet, const KubernetesFlags& flags);

}  // namespace meshwright::cli

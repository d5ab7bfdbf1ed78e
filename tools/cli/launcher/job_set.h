// The JobSet that runs one agent on each of several nodes of a Kubernetes cluster.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/launcher/agent_fleet.h"

namespace meshwright::cli {

struct KubernetesFlags {
  std::string image;       // holds `meshwright` in its PATH
  std::string name_space;  // empty: the one that kubectl takes
  std::string secret;      // mounted at kSecretFolder; empty: none
};

inline constexpr char kSecretFolder[] = "/etc/meshwright";

// InvalidArgument about the flag that Kubernetes would refuse.
absl::Status Check(const AgentFleet& fleet, const KubernetesFlags& flags);

// A jobset.x-k8s.io/v1alpha2 JobSet, in JSON, for `kubectl apply`, the same for the same arguments.
// Its one Job is indexed: pods count from 0, agents are called by their pod's index, no two share a
// node, and a pod that fails or is lost is made anew.
std::string JobSet(const AgentFleet& fleet, const KubernetesFlags& flags);

}  // namespace meshwright::cli

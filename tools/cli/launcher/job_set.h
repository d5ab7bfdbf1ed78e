// Writes the JobSet that runs one agent on each of several nodes of a Kubernetes cluster.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/launcher/agent_fleet.h"

namespace meshwright::cli {

struct KubernetesFlags {
  std::string image;       // has `meshwright` in its PATH
  std::string name_space;  // if empty, kubectl's current one
  std::string secret;      // mounted at kSecretFolder; if empty, none is mounted
};

inline constexpr char kSecretFolder[] = "/etc/meshwright";

// Returns InvalidArgument about a flag whose value Kubernetes would refuse.
absl::Status Check(const AgentFleet& fleet, const KubernetesFlags& flags);

// Returns a jobset.x-k8s.io/v1alpha2 JobSet, in JSON, for `kubectl apply`. It depends on the
// arguments alone. Its only Job is indexed: pods are numbered from 0, and an agent is named after
// the number of its pod. No two pods share a node. A pod that fails or is lost is recreated.
std::string JobSet(const AgentFleet& fleet, const KubernetesFlags& flags);

}  // namespace meshwright::cli

// JobSet() writes the JobSet that runs one agent on each of several nodes of a Kubernetes cluster.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "tools/cli/launcher/agent_fleet.h"

namespace meshwright::cli {

struct KubernetesFlags {
  std::string image;       // has `meshwright` in its PATH
  std::string name_space;  // if empty, kubectl's current namespace
  std::string secret;      // the secret that is mounted at kSecretFolder; may be empty
};

inline constexpr char kSecretFolder[] = "/etc/meshwright";

// Returns InvalidArgument, which names the flag, if Kubernetes would refuse the value of a flag.
absl::Status Check(const AgentFleet& fleet, const KubernetesFlags& flags);

// Returns a jobset.x-k8s.io/v1alpha2 JobSet, in JSON, for `kubectl apply`. The text depends on the
// arguments alone. Its only Job is indexed: pods are numbered from 0, and an agent's name has the
// number of its pod. No two pods share a node. A pod that fails or is lost is recreated.
std::string JobSet(const AgentFleet& fleet, const KubernetesFlags& flags);

}  // namespace meshwright::cli

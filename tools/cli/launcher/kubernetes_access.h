// KubernetesAccess is how a launcher reaches the API server of a Kubernetes cluster.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace meshwright::cli {

// The flags. Empty texts stand for what a pod finds in its service account's folder.
struct KubernetesAccessFlags {
  std::string url;         // --kube-api
  std::string ca_file;     // --kube-ca
  std::string token_file;  // --kube-token-file
};

struct KubernetesAccess {
  std::string url;
  std::string ca_file;     // empty for plain HTTP, or for the system's authorities
  std::string token_file;  // empty if calls need no token
  std::string name_space;  // that of the service account; empty outside of a pod

  // Reads the token, which Kubernetes renews in its file. Returns an empty text without a file.
  absl::StatusOr<std::string> Token() const;
};

// The environment and the files that FindKubernetes() looks at.
struct KubernetesSurroundings {
  std::function<std::optional<std::string>(const char* name)> variable;
  std::string account_folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};

KubernetesSurroundings ThisPod();

// Returns the access by the flags, or by the pod's service account where no flag is given. Returns
// InvalidArgument if the flags name no API server outside of a pod, or if the token would travel in
// plain text to another machine.
absl::StatusOr<KubernetesAccess> FindKubernetes(const KubernetesAccessFlags& flags,
                                                const KubernetesSurroundings& around);

}  // namespace meshwright::cli

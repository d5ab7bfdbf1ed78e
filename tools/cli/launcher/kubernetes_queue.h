// KubernetesQueue is a Kubernetes cluster as the queue of a fleet: each job is a JobSet, which the
// queue applies, watches and deletes by the cluster's API.
//
// A job's number is its JobSet's name: the job's name and random letters, since a JobSet that has
// ended stays for an hour, in which its pods' output can be read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/launcher/job_queue.h"
#include "tools/cli/launcher/job_set.h"
#include "tools/cli/launcher/kubernetes_api.h"
#include "tools/cli/launcher/kubernetes_objects.h"

namespace meshwright::cli {

// Returns the job that a JobSet and the pods of the namespace are.
QueuedJob JobOfJobSet(const nlohmann::json& job_set, const std::vector<nlohmann::json>& pods);

class KubernetesQueue : public JobQueue {
 public:
  // `suffix` returns random letters that end the name of the next JobSet. Starts two threads, which
  // watch the fleet's JobSets and pods.
  KubernetesQueue(std::shared_ptr<const KubernetesApi> api, KubernetesFlags flags,
                  std::string_view fleet_name, std::function<absl::StatusOr<std::string>()> suffix);

  std::string name() const override { return "Kubernetes"; }
  std::string HowToEnd(std::string_view job) const override;
  std::string HowToList() const override;
  std::string OutputOf(std::string_view agent, std::string_view job) const override;
  // Lets the API server check the job's JobSet, by a dry run: the account's rights, the schema, and
  // the site's own rules.
  absl::Status Check(const AgentJobSpec& spec) const override;
  absl::StatusOr<std::string> Submit(const AgentJobSpec& spec) const override;
  absl::StatusOr<std::vector<QueuedJob>> List(
      const std::vector<std::string>& agents) const override;
  absl::Status Cancel(const std::vector<std::string>& jobs) const override;

 private:
  absl::StatusOr<nlohmann::json> Apply(const AgentJobSpec& spec, bool dry_run) const;

  const std::shared_ptr<const KubernetesApi> api_;
  const KubernetesFlags flags_;
  const std::function<absl::StatusOr<std::string>()> suffix_;
  const std::unique_ptr<KubernetesObjects> job_sets_;
  const std::unique_ptr<KubernetesObjects> pods_;
};

}  // namespace meshwright::cli

// AddAgentFlags(), AddSlurmFlags(), AddQueueFlags() and AddKubernetesFlags() add the flags of a
// fleet of agents, which several commands share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/launcher/agent_fleet.h"
#include "tools/cli/launcher/batch_script.h"
#include "tools/cli/launcher/command_queue.h"
#include "tools/cli/launcher/job_set.h"
#include "tools/cli/launcher/kubernetes_access.h"

namespace meshwright::cli {

// Adds and returns the flags of the agents: --devices, --gpus-per-node, --job-name and the words
// after "--".
std::vector<CLI::Option*> AddAgentFlags(CLI::App& command, AgentFleet& fleet);

// Adds and returns the flags of the agents' jobs: --partition, --time, --account, --nodes-per-job,
// --array, --requeue, --sbatch, --sbatch-template and --poll-s.
std::vector<CLI::Option*> AddSlurmFlags(CLI::App& command, AgentFleet& fleet, SlurmJobFlags& job,
                                        double& poll_s);

// Adds and returns the flags of --launcher command: --submit, --status, --cancel and --jobs-dir.
std::vector<CLI::Option*> AddQueueFlags(CLI::App& command, QueueCommands& commands);

struct KubernetesLaunch {
  KubernetesFlags pods;
  KubernetesAccessFlags access;
};

// Adds and returns the flags of --launcher kubernetes.
std::vector<CLI::Option*> AddKubernetesFlags(CLI::App& command, KubernetesLaunch& launch);

// Return InvalidArgument, which names the flag, for the first of these flags that is given: for
// launchers that read none of them.
absl::Status CheckIsEmpty(const SlurmJobFlags& job);
absl::Status CheckIsEmpty(const QueueCommands& commands);
absl::Status CheckIsEmpty(const KubernetesLaunch& launch);

// Returns InvalidArgument if the fleet's jobs have several nodes.
absl::Status CheckIsByNode(const AgentFleet& fleet);

// The queue of a launch, and the owner of its jobs.
struct QueueOfFleet {
  std::shared_ptr<const JobQueue> queue;
  std::string owner = {};  // empty if the process owns them
};

// Returns the queue that the commands reach. Returns the errors of Check() and of
// CommandQueue::Open().
absl::StatusOr<QueueOfFleet> OpenCommandQueue(QueueCommands commands, const AgentFleet& fleet);

// Returns the Kubernetes cluster in which the fleet's jobs run. Returns the errors of
// FindKubernetes() and of Check(), and FailedPrecondition if this machine has no libcurl.
absl::StatusOr<QueueOfFleet> OpenKubernetesQueue(const KubernetesLaunch& launch,
                                                 const AgentFleet& fleet);

}  // namespace meshwright::cli

#include "tools/cli/launcher/fleet_flags.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/system/random_bytes.h"
#include "base/system/run_program.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "tools/cli/launcher/http_client.h"
#include "tools/cli/launcher/kubernetes_queue.h"

namespace meshwright::cli {
namespace {

// Random hexadecimal letters at the end of a JobSet's name, in bytes.
constexpr size_t kSuffixBytes = 3;

// A text flag, without a default.
CLI::Option* AddText(CLI::App& command, const char* name, std::string& value,
                     const char* description, const char* text) {
  return command.add_option(name, value, description)->option_text(text);
}

// Returns the error of the first flag that is given, of flags that only this launcher reads.
absl::Status CheckAreEmpty(std::initializer_list<std::pair<const char*, std::string>> flags,
                           absl::string_view launcher) {
  for (const auto& [field, value] : flags) {
    if (value.empty()) continue;
    return FieldError(field, value, absl::StrCat("goes with --launcher ", launcher, " only"));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<CLI::Option*> AddAgentFlags(CLI::App& command, AgentFleet& fleet) {
  return {
      command
          .add_option("--devices", fleet.devices_text,
                      "Devices of each node: N ranks on its CPUs, or its GPUs")
          ->option_text("cpu:N|cuda"),
      command
          .add_option("--gpus-per-node", fleet.gpus_per_node,
                      "GPUs to request on each node; required on Kubernetes with --devices cuda")
          ->option_text("N"),
      command
          .add_option("--job-name", fleet.name,
                      "Name of agents and jobs; -1, -2 and so on are appended to it")
          ->capture_default_str()
          ->option_text("NAME"),
      command
          .add_option("agent_flags", fleet.more, "After --: further flags for `meshwright agent`")
          ->option_text("FLAG")};
}

std::vector<CLI::Option*> AddSlurmFlags(CLI::App& command, AgentFleet& fleet, SlurmJobFlags& job,
                                        double& poll_s) {
  return {
      AddText(command, "--partition", job.partition, "Slurm: partition of the jobs", "NAME"),
      AddText(command, "--time", job.time_limit,
              "Slurm: time limit of each job; the next job starts when it ends",
              "HH:MM:SS|MINUTES"),
      AddText(command, "--account", job.account, "Slurm: account that the jobs are charged to",
              "NAME"),
      command
          .add_option("--nodes-per-job", fleet.nodes_per_job,
                      "Slurm and Kubernetes: nodes of one job, for trials that need neighbours")
          ->capture_default_str()
          ->option_text("K"),
      command
          .add_option("--array", job.array,
                      "Slurm: submit the jobs as tasks of arrays, of which at most M run at once")
          ->option_text("M"),
      command.add_flag("--requeue", job.requeue,
                       "Slurm: let Slurm start a job again after a lost node or a preemption"),
      AddText(command, "--sbatch-template", job.template_file,
              "Slurm: the site's batch script, in which the line {agents} starts the agents",
              "FILE"),
      command
          .add_option(
              "--sbatch", job.more,
              "Slurm: a further option of sbatch, as --sbatch=--switches=1; may be repeated")
          ->allow_extra_args(false)
          ->option_text("OPTION"),
      command.add_option("--poll-s", poll_s, "Seconds between polls of the queue")
          ->capture_default_str()
          ->option_text("S")};
}

std::vector<CLI::Option*> AddQueueFlags(CLI::App& command, QueueCommands& commands) {
  return {
      AddText(command, "--submit", commands.submit,
              "Command: submits {script}, which runs the agent {name}, and prints the job in its "
              "last line",
              "COMMAND"),
      AddText(command, "--status", commands.status,
              "Command: prints a line \"JOB STATE\" for each of {jobs} that has not ended",
              "COMMAND"),
      AddText(command, "--cancel", commands.cancel, "Command: ends {job}", "COMMAND"),
      AddText(command, "--jobs-dir", commands.folder,
              "Command: folder of scripts and jobs, which nodes and a restart find there; default: "
              "the agents' name with .jobs",
              "DIR")};
}

std::vector<CLI::Option*> AddKubernetesFlags(CLI::App& command, KubernetesLaunch& launch) {
  KubernetesFlags& pods = launch.pods;
  KubernetesAccessFlags& access = launch.access;
  return {
      AddText(command, "--image", pods.image, "Kubernetes: image with `meshwright` in its PATH",
              "IMAGE"),
      AddText(command, "--namespace", pods.name_space,
              "Kubernetes: namespace of the JobSets; default: that of the service account", "NAME"),
      AddText(command, "--secret", pods.secret,
              "Kubernetes: Secret whose files are mounted at /etc/meshwright", "NAME"),
      AddText(command, "--kueue-queue", pods.kueue_queue,
              "Kubernetes: local queue of Kueue that admits the JobSets", "NAME"),
      AddText(command, "--cpu", pods.cpu,
              "Kubernetes: CPUs of a pod; default: one for each rank of --devices cpu:N",
              "QUANTITY"),
      AddText(command, "--memory", pods.memory, "Kubernetes: memory of a pod, such as 64Gi",
              "QUANTITY"),
      AddText(command, "--rdma-resource", pods.rdma_resource,
              "Kubernetes: RDMA devices of a pod, such as rdma/hca_shared_devices_a=1", "NAME=N"),
      AddText(command, "--topology-key", pods.topology_key,
              "Kubernetes: label of nodes whose value all nodes of a job share", "LABEL"),
      AddText(command, "--kube-api", access.url,
              "Kubernetes: URL of the API server; default: that of the pod's service account",
              "URL"),
      AddText(command, "--kube-ca", access.ca_file,
              "Kubernetes: file of the authorities that sign the API server's certificate", "FILE"),
      AddText(command, "--kube-token-file", access.token_file,
              "Kubernetes: file of the token that calls carry", "FILE")};
}

absl::Status CheckIsEmpty(const SlurmJobFlags& job) {
  return CheckAreEmpty({{"partition", job.partition},
                        {"time", job.time_limit},
                        {"account", job.account},
                        {"sbatch_template", job.template_file},
                        {"array", job.array == 0 ? "" : absl::StrCat(job.array)},
                        {"requeue", job.requeue ? "true" : ""},
                        {"sbatch", job.more.empty() ? "" : job.more.front()}},
                       "slurm");
}

absl::Status CheckIsEmpty(const QueueCommands& commands) {
  return CheckAreEmpty({{"submit", commands.submit},
                        {"status", commands.status},
                        {"cancel", commands.cancel},
                        {"jobs_dir", commands.folder}},
                       "command");
}

absl::Status CheckIsEmpty(const KubernetesLaunch& launch) {
  return CheckAreEmpty({{"image", launch.pods.image},
                        {"namespace", launch.pods.name_space},
                        {"secret", launch.pods.secret},
                        {"kueue_queue", launch.pods.kueue_queue},
                        {"cpu", launch.pods.cpu},
                        {"memory", launch.pods.memory},
                        {"rdma_resource", launch.pods.rdma_resource},
                        {"topology_key", launch.pods.topology_key},
                        {"kube_api", launch.access.url},
                        {"kube_ca", launch.access.ca_file},
                        {"kube_token_file", launch.access.token_file}},
                       "kubernetes");
}

absl::Status CheckIsByNode(const AgentFleet& fleet) {
  if (fleet.nodes_per_job == 1) return absl::OkStatus();
  return FieldError("nodes_per_job", fleet.nodes_per_job,
                    "goes with --launcher slurm and kubernetes only");
}

absl::StatusOr<QueueOfFleet> OpenCommandQueue(QueueCommands commands, const AgentFleet& fleet) {
  RETURN_IF_ERROR(Check(commands));
  if (commands.folder.empty()) commands.folder = fleet.name + ".jobs";
  ASSIGN_OR_RETURN(std::shared_ptr<const CommandQueue> queue,
                   CommandQueue::Open(RunProgramOn, std::move(commands)));
  return QueueOfFleet{.queue = std::move(queue), .owner = CommandQueue::kOwner};
}

absl::StatusOr<QueueOfFleet> OpenKubernetesQueue(const KubernetesLaunch& launch,
                                                 const AgentFleet& fleet) {
  RETURN_IF_ERROR(Check(fleet, launch.pods));
  ASSIGN_OR_RETURN(const KubernetesAccess access, FindKubernetes(launch.access, ThisPod()));
  ASSIGN_OR_RETURN(std::shared_ptr<const HttpTransport> http,
                   MakeHttpClient({.url = access.url, .ca_file = access.ca_file}));
  KubernetesFlags pods = launch.pods;
  if (pods.name_space.empty()) pods.name_space = access.name_space;
  if (pods.name_space.empty()) pods.name_space = "default";
  auto api = std::make_shared<const KubernetesApi>(std::move(http), pods.name_space,
                                                   [access] { return access.Token(); });
  return QueueOfFleet{
      .queue = std::make_shared<KubernetesQueue>(std::move(api), std::move(pods), fleet.name,
                                                 [] { return RandomHex(kSuffixBytes); })};
}

}  // namespace meshwright::cli

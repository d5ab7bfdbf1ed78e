#include "tools/cli/launcher/job_set.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "nlohmann/json.hpp"
#include "re2/re2.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

// A pod is called JOBSET-agentN-0-0-XXXXX, in 63 letters at most; the JobSet's name has the job's
// number of up to 4 digits and 6 random letters after the fleet's name.
constexpr size_t kLongestName = 32;
constexpr size_t kLongestLabel = 63;
// An agent delivers its results within 5 s of SIGTERM.
constexpr int32_t kEndGraceS = 30;
// For this time after its end, a JobSet's pods and their output can be looked at.
constexpr int32_t kKeptAfterEndS = 3600;
constexpr int32_t kOwnerReads = 0400;
constexpr int32_t kMostRdmaDevices = 64;
// By default, a pod of a node that does not answer is given up after 300 s. A trial's lease ends
// sooner, and no pod holds anything that is worth waiting for.
constexpr int32_t kNodeLossS = 30;

absl::Status CheckLabel(std::string_view field, const std::string& text, size_t longest) {
  const auto is_inner = [](unsigned char c) {
    return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
  };
  if (!text.empty() && text.size() <= longest && text.front() != '-' && text.back() != '-' &&
      std::all_of(text.begin(), text.end(), is_inner)) {
    return absl::OkStatus();
  }
  return FieldError(
      field, text,
      absl::StrCat("must be 1 to ", longest,
                   " lower-case letters, digits and '-', and not begin or end with '-'"));
}

absl::Status CheckQuantity(std::string_view field, const std::string& text) {
  static const RE2* const quantity = new RE2(R"([1-9][0-9]*(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?)");
  if (text.empty() || RE2::FullMatch(text, *quantity)) return absl::OkStatus();
  return FieldError(field, text, "must be a quantity of Kubernetes, such as 8, 1500m or 64Gi");
}

// The name and the count of an extended resource.
std::pair<std::string, int32_t> ResourceOf(const std::string& text) {
  static const RE2* const form =
      new RE2(R"(([a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9][-\w.]*)=(\d{1,4}))");
  std::string name;
  int32_t count = 0;
  if (!RE2::FullMatch(text, *form, &name, nullptr, &count)) return {};
  return {name, count};
}

absl::Status CheckRdma(const std::string& text) {
  if (text.empty()) return absl::OkStatus();
  const auto [name, count] = ResourceOf(text);
  if (!name.empty() && count >= 1 && count <= kMostRdmaDevices) return absl::OkStatus();
  return FieldError("rdma_resource", text,
                    absl::StrCat("must be NAME=N with 1 to ", kMostRdmaDevices,
                                 " devices of a pod, such as rdma/hca_shared_devices_a=1"));
}

absl::Status CheckTopology(const AgentFleet& fleet, const std::string& key) {
  static const RE2* const label =
      new RE2(R"(([a-z0-9][-a-z0-9.]{0,252}/)?[A-Za-z0-9][-\w.]{0,62})");
  if (key.empty()) return absl::OkStatus();
  if (!RE2::FullMatch(key, *label)) {
    return FieldError("topology_key", key,
                      "must be the name of a label of nodes, such as topology.kubernetes.io/zone");
  }
  if (fleet.nodes_per_job > 1) return absl::OkStatus();
  return FieldError("topology_key", key, "goes with --nodes-per-job above 1 only");
}

// Kubernetes expands variables in arguments, $(NAME), and reads $$ as $.
std::vector<std::string> Arguments(const AgentFleet& fleet, const std::string& agent) {
  std::vector<std::string> words = AgentWords(fleet, agent);
  for (std::string& word : words) word = absl::StrReplaceAll(word, {{"$", "$$"}});
  return words;
}

// Requests equal limits, which keeps other pods off an agent's processors: trials would measure
// them, too.
ordered_json Resources(const AgentFleet& fleet, const KubernetesFlags& flags) {
  ordered_json amounts;
  if (fleet.devices.kind == planner::DeviceKind::kCuda) {
    amounts["nvidia.com/gpu"] = fleet.gpus_per_node;
    if (!flags.cpu.empty()) amounts["cpu"] = flags.cpu;
  } else {
    amounts["cpu"] = flags.cpu.empty() ? absl::StrCat(fleet.devices.count) : flags.cpu;
  }
  if (!flags.memory.empty()) amounts["memory"] = flags.memory;
  if (const auto [name, count] = ResourceOf(flags.rdma_resource); !name.empty()) {
    amounts[name] = count;
  }
  return {{"requests", amounts}, {"limits", amounts}};
}

// The pod's volumes: the secret's files, and memory that its ranks share.
struct Volumes {
  ordered_json volumes = ordered_json::array();
  ordered_json mounts = ordered_json::array();
};

Volumes VolumesOf(const AgentFleet& fleet, const KubernetesFlags& flags) {
  Volumes made;
  if (!flags.secret.empty()) {
    made.volumes.push_back(
        {{"name", "access"},
         {"secret", {{"secretName", flags.secret}, {"defaultMode", kOwnerReads}}}});
    made.mounts.push_back({{"name", "access"}, {"mountPath", kSecretFolder}, {"readOnly", true}});
  }
  // NCCL's ranks on a node need more shared memory than a container's 64 MiB.
  if (fleet.devices.kind == planner::DeviceKind::kCuda) {
    made.volumes.push_back({{"name", "shared-memory"}, {"emptyDir", {{"medium", "Memory"}}}});
    made.mounts.push_back({{"name", "shared-memory"}, {"mountPath", "/dev/shm"}});
  }
  return made;
}

ordered_json Container(const AgentFleet& fleet, const KubernetesFlags& flags,
                       const std::string& agent, const ordered_json& mounts) {
  ordered_json container = {{"name", "agent"},
                            {"image", flags.image},
                            {"command", {"meshwright"}},
                            {"args", Arguments(fleet, agent)},
                            {"resources", Resources(fleet, flags)}};
  // Registering memory for RDMA locks it.
  if (!flags.rdma_resource.empty()) {
    container["securityContext"] = {{"capabilities", {{"add", {"IPC_LOCK"}}}}};
  }
  if (!mounts.empty()) container["volumeMounts"] = mounts;
  return container;
}

ordered_json LabelsOf(const AgentFleet& fleet, const std::string& job) {
  return {
      {"app.kubernetes.io/name", "meshwright-agent"}, {kFleetLabel, fleet.name}, {kJobLabel, job}};
}

ordered_json Affinity(const AgentFleet& fleet, const KubernetesFlags& flags,
                      const std::string& job) {
  const auto terms = [](const ordered_json& labels, const std::string& key) {
    const ordered_json term = {{"labelSelector", {{"matchLabels", labels}}}, {"topologyKey", key}};
    return ordered_json{
        {"requiredDuringSchedulingIgnoredDuringExecution", ordered_json::array({term})}};
  };
  ordered_json apart = LabelsOf(fleet, job);
  apart.erase(kJobLabel);
  ordered_json affinity = {{"podAntiAffinity", terms(apart, "kubernetes.io/hostname")}};
  if (!flags.topology_key.empty()) {
    affinity["podAffinity"] = terms(LabelsOf(fleet, job), flags.topology_key);
  }
  return affinity;
}

ordered_json Tolerations() {
  ordered_json tolerations = ordered_json::array();
  for (const char* taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    tolerations.push_back({{"key", taint},
                           {"operator", "Exists"},
                           {"effect", "NoExecute"},
                           {"tolerationSeconds", kNodeLossS}});
  }
  return tolerations;
}

ordered_json PodTemplate(const AgentFleet& fleet, const KubernetesFlags& flags,
                         const JobSetIdentity& identity, const std::string& agent) {
  const Volumes volumes = VolumesOf(fleet, flags);
  ordered_json pod = {
      {"restartPolicy", identity.is_launched ? "Never" : "OnFailure"},
      {"terminationGracePeriodSeconds", kEndGraceS},
      {"affinity", Affinity(fleet, flags, identity.job)},
      {"tolerations", Tolerations()},
      {"containers", ordered_json::array({Container(fleet, flags, agent, volumes.mounts)})}};
  if (!volumes.volumes.empty()) pod["volumes"] = volumes.volumes;
  return {{"metadata", {{"labels", LabelsOf(fleet, identity.job)}}}, {"spec", pod}};
}

ordered_json ReplicatedJob(const AgentFleet& fleet, const KubernetesFlags& flags,
                           const JobSetIdentity& identity, const std::string& name,
                           const std::string& agent) {
  const ordered_json job = {
      {"completions", 1},
      {"parallelism", 1},
      {"backoffLimit", identity.is_launched ? 0 : std::numeric_limits<int32_t>::max()},
      {"template", PodTemplate(fleet, flags, identity, agent)}};
  return {{"name", name}, {"replicas", 1}, {"template", {{"spec", job}}}};
}

}  // namespace

absl::Status Check(const AgentFleet& fleet, const KubernetesFlags& flags) {
  RETURN_IF_ERROR(CheckLabel("job_name", fleet.name, kLongestName));
  if (flags.image.empty()) {
    return FieldError("image", flags.image, "must name the image that agents run from");
  }
  if (!flags.name_space.empty()) {
    RETURN_IF_ERROR(CheckLabel("namespace", flags.name_space, kLongestLabel));
  }
  if (!flags.secret.empty()) RETURN_IF_ERROR(CheckLabel("secret", flags.secret, kLongestLabel));
  if (!flags.kueue_queue.empty()) {
    RETURN_IF_ERROR(CheckLabel("kueue_queue", flags.kueue_queue, kLongestLabel));
  }
  RETURN_IF_ERROR(CheckQuantity("cpu", flags.cpu));
  RETURN_IF_ERROR(CheckQuantity("memory", flags.memory));
  RETURN_IF_ERROR(CheckRdma(flags.rdma_resource));
  RETURN_IF_ERROR(CheckTopology(fleet, flags.topology_key));
  if (fleet.devices.kind == planner::DeviceKind::kCuda && fleet.gpus_per_node == 0) {
    return FieldError(
        "gpus_per_node", fleet.gpus_per_node,
        "must be the number of GPUs of a node: a pod gets only the GPUs that it requests");
  }
  return absl::OkStatus();
}

ordered_json JobSet(const AgentFleet& fleet, const KubernetesFlags& flags,
                    const JobSetIdentity& identity) {
  ordered_json metadata = {{"name", identity.name}};
  if (!flags.name_space.empty()) metadata["namespace"] = flags.name_space;
  metadata["labels"] = LabelsOf(fleet, identity.job);
  if (!flags.kueue_queue.empty()) {
    metadata["labels"]["kueue.x-k8s.io/queue-name"] = flags.kueue_queue;
  }
  if (!identity.owner.empty()) metadata["annotations"] = {{kOwnerAnnotation, identity.owner}};
  ordered_json jobs = ordered_json::array();
  for (const std::string& agent : AgentsOfJob(fleet, identity.job)) {
    jobs.push_back(
        ReplicatedJob(fleet, flags, identity, absl::StrCat("agent", jobs.size()), agent));
  }
  ordered_json spec = {{"replicatedJobs", jobs}};
  if (!flags.kueue_queue.empty()) spec["suspend"] = true;
  if (identity.is_launched) spec["ttlSecondsAfterFinished"] = kKeptAfterEndS;
  return {{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
          {"kind", "JobSet"},
          {"metadata", metadata},
          {"spec", spec}};
}

std::string JobSets(const AgentFleet& fleet, const KubernetesFlags& flags) {
  ordered_json items = ordered_json::array();
  for (const std::string& job : JobNames(fleet)) {
    items.push_back(JobSet(fleet, flags, {.job = job, .name = job}));
  }
  const ordered_json list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", items}};
  return list.dump(/*indent=*/2, ' ', /*ensure_ascii=*/false,
                   ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace meshwright::cli

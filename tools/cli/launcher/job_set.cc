#include "tools/cli/launcher/job_set.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "nlohmann/json.hpp"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

// The controller names a pod after the JobSet, "-agents-0-", its index and six more letters, in 63
// letters at most.
constexpr size_t kLongestName = 40;
constexpr size_t kLongestLabel = 63;
// An agent delivers its results within 5 s of SIGTERM.
constexpr int32_t kEndGraceS = 30;
constexpr int32_t kOwnerReads = 0400;
constexpr char kAgentOfPod[] = "-$(JOB_COMPLETION_INDEX)";

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

// Kubernetes expands variables in arguments, $(NAME), and reads $$ as $.
std::vector<std::string> Arguments(const AgentFleet& fleet) {
  const std::string placeholder(1, '\0');  // a byte that no word can contain
  std::vector<std::string> words = AgentWords(fleet, placeholder);
  for (std::string& word : words) {
    word = absl::StrReplaceAll(word,
                               {{"$", "$$"}, {placeholder, absl::StrCat(fleet.name, kAgentOfPod)}});
  }
  return words;
}

ordered_json Resources(const AgentFleet& fleet) {
  if (fleet.devices.kind == planner::DeviceKind::kCuda) {
    return {{"limits", {{"nvidia.com/gpu", fleet.gpus_per_node}}}};
  }
  return {{"requests", {{"cpu", absl::StrCat(fleet.devices.count)}}}};
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
                       const ordered_json& mounts) {
  ordered_json container = {{"name", "agent"},
                            {"image", flags.image},
                            {"command", {"meshwright"}},
                            {"args", Arguments(fleet)},
                            {"resources", Resources(fleet)}};
  if (!mounts.empty()) container["volumeMounts"] = mounts;
  return container;
}

ordered_json PodTemplate(const AgentFleet& fleet, const KubernetesFlags& flags) {
  const ordered_json labels = {{"app.kubernetes.io/name", "meshwright-agent"},
                               {"app.kubernetes.io/instance", fleet.name}};
  const ordered_json apart = {{"labelSelector", {{"matchLabels", labels}}},
                              {"topologyKey", "kubernetes.io/hostname"}};
  const Volumes volumes = VolumesOf(fleet, flags);
  ordered_json pod = {
      {"restartPolicy", "OnFailure"},
      {"terminationGracePeriodSeconds", kEndGraceS},
      {"affinity",
       {{"podAntiAffinity",
         {{"requiredDuringSchedulingIgnoredDuringExecution", ordered_json::array({apart})}}}}},
      {"containers", ordered_json::array({Container(fleet, flags, volumes.mounts)})}};
  if (!volumes.volumes.empty()) pod["volumes"] = volumes.volumes;
  return {{"metadata", {{"labels", labels}}}, {"spec", pod}};
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
  if (fleet.devices.kind == planner::DeviceKind::kCuda && fleet.gpus_per_node == 0) {
    return FieldError(
        "gpus_per_node", fleet.gpus_per_node,
        "must be the number of GPUs of a node: a pod gets only the GPUs that it requests");
  }
  return absl::OkStatus();
}

std::string JobSet(const AgentFleet& fleet, const KubernetesFlags& flags) {
  ordered_json metadata = {{"name", fleet.name}};
  if (!flags.name_space.empty()) metadata["namespace"] = flags.name_space;
  const ordered_json job = {
      {"completions", fleet.nodes},
      {"parallelism", fleet.nodes},
      {"completionMode", "Indexed"},
      // Agents are services: lost ones are recreated during the life of the JobSet.
      {"backoffLimit", std::numeric_limits<int32_t>::max()},
      {"template", PodTemplate(fleet, flags)}};
  const ordered_json agents = {{"name", "agents"}, {"replicas", 1}, {"template", {{"spec", job}}}};
  const ordered_json set = {{"apiVersion", "jobset.x-k8s.io/v1alpha2"},
                            {"kind", "JobSet"},
                            {"metadata", metadata},
                            {"spec", {{"replicatedJobs", ordered_json::array({agents})}}}};
  return set.dump(/*indent=*/2, ' ', /*ensure_ascii=*/false,
                  ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace meshwright::cli

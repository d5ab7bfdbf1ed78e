#include "tools/cli/launcher/kubernetes_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "nlohmann/json.hpp"
#include "tools/cli/launcher/kubernetes_json.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;

// Returns the condition of this type and status, or null.
json ConditionOf(const json& object, std::string_view type, const char* status = "True") {
  for (const json& condition : At(object, "status", "conditions")) {
    if (TextAt(condition, "type") == type && TextAt(condition, "status") == status) {
      return condition;
    }
  }
  return {};
}

std::string Joined(const std::string& what, const std::string& more) {
  if (what.empty() || more.empty()) return what + more;
  return absl::StrCat(what, ": ", more);
}

// Returns why a pod does not run: how its container ended, or what it waits for.
std::string WhyNot(const json& pod) {
  for (const json& container : At(pod, "status", "containerStatuses")) {
    const json& ended = At(container, "state", "terminated");
    if (ended.is_object()) {
      const json& code = At(ended, "exitCode");
      std::string how = TextAt(ended, "reason");
      if (code.is_number_integer()) absl::StrAppend(&how, " with exit code ", code.get<int32_t>());
      return Joined(how, TextAt(ended, "message"));
    }
    const json& waits = At(container, "state", "waiting");
    if (waits.is_object()) return Joined(TextAt(waits, "reason"), TextAt(waits, "message"));
  }
  const json unscheduled = ConditionOf(pod, "PodScheduled", "False");
  if (unscheduled.is_object()) return TextAt(unscheduled, "message");
  return Joined(TextAt(pod, "status", "reason"), TextAt(pod, "status", "message"));
}

struct PodsOfJob {
  size_t running = 0;
  std::vector<std::string> nodes = {};
  std::string why_not = {};  // why the first pod that does not run doesn't
};

PodsOfJob PodsOf(const std::string& job_set, const std::vector<json>& pods) {
  PodsOfJob found;
  for (const json& pod : pods) {
    if (TextAt(pod, "metadata", "labels", "jobset.sigs.k8s.io/jobset-name") != job_set) continue;
    if (const std::string node = TextAt(pod, "spec", "nodeName"); !node.empty()) {
      found.nodes.push_back(node);
    }
    const bool is_running = TextAt(pod, "status", "phase") == "Running" &&
                            TextAt(pod, "metadata", "deletionTimestamp").empty();
    if (is_running) ++found.running;
    if (!is_running && found.why_not.empty()) found.why_not = WhyNot(pod);
  }
  return found;
}

}  // namespace

QueuedJob JobOfJobSet(const json& job_set, const std::vector<json>& pods) {
  QueuedJob job = {.id = TextAt(job_set, "metadata", "name"),
                   .name = TextAt(job_set, "metadata", "labels", kJobLabel),
                   .owner = TextAt(job_set, "metadata", "annotations", kOwnerAnnotation)};
  const PodsOfJob own = PodsOf(job.id, pods);
  job.node = absl::StrJoin(own.nodes, ",");
  const auto is = [&job](JobPhase phase, std::string state, std::string reason) {
    job.phase = phase;
    job.state = std::move(state);
    job.reason = std::move(reason);
  };
  const json failed = ConditionOf(job_set, "Failed");
  const json& suspend = At(job_set, "spec", "suspend");
  const json& replicated = At(job_set, "spec", "replicatedJobs");
  if (failed.is_object()) {
    is(JobPhase::kEnded, "Failed", own.why_not.empty() ? TextAt(failed, "message") : own.why_not);
  } else if (ConditionOf(job_set, "Completed").is_object()) {
    is(JobPhase::kEnded, "Completed", own.why_not);
  } else if (!TextAt(job_set, "metadata", "deletionTimestamp").empty()) {
    is(JobPhase::kEnding, "Terminating", "");
  } else if (suspend.is_boolean() && suspend.get<bool>()) {
    is(JobPhase::kWaiting, "Suspended", TextAt(ConditionOf(job_set, "Suspended"), "message"));
  } else if (own.running > 0 && own.running >= replicated.size()) {
    is(JobPhase::kRunning, "Running", "");
  } else {
    is(JobPhase::kWaiting, "Pending", own.why_not);
  }
  return job;
}

KubernetesQueue::KubernetesQueue(std::shared_ptr<const KubernetesApi> api, KubernetesFlags flags,
                                 std::string_view fleet_name,
                                 std::function<absl::StatusOr<std::string>()> suffix)
    : api_(std::move(api)),
      flags_(std::move(flags)),
      suffix_(std::move(suffix)),
      job_sets_(std::make_unique<KubernetesObjects>(
          api_, kJobSets, absl::StrCat(kFleetLabel, "=", AbslView(fleet_name)))),
      pods_(std::make_unique<KubernetesObjects>(
          api_, kPods, absl::StrCat(kFleetLabel, "=", AbslView(fleet_name)))) {}

std::string KubernetesQueue::HowToEnd(std::string_view job) const {
  return absl::StrCat("kubectl delete jobset ", AbslView(job), " -n ", api_->name_space());
}

std::string KubernetesQueue::HowToList() const {
  return absl::StrCat("kubectl get jobsets -n ", api_->name_space());
}

std::string KubernetesQueue::OutputOf(std::string_view, std::string_view job) const {
  return absl::StrCat("kubectl logs -n ", api_->name_space(),
                      " -l jobset.sigs.k8s.io/jobset-name=", AbslView(job));
}

absl::StatusOr<json> KubernetesQueue::Apply(const AgentJobSpec& spec, bool dry_run) const {
  ASSIGN_OR_RETURN(const std::string suffix, suffix_());
  const JobSetIdentity identity = {.job = spec.agent,
                                   .name = absl::StrCat(spec.agent, "-", suffix),
                                   .owner = spec.owner,
                                   .is_launched = true};
  return api_->Apply(kJobSets, json(JobSet(spec.fleet, flags_, identity)),
                     {.manager = "meshwright", .dry_run = dry_run});
}

absl::Status KubernetesQueue::Check(const AgentJobSpec& spec) const {
  const absl::Status status = Apply(spec, /*dry_run=*/true).status();
  if (!absl::IsNotFound(status)) return status;
  return absl::FailedPreconditionError(
      absl::StrCat("the namespace ", api_->name_space(),
                   " or the controller of JobSets (https://jobset.sigs.k8s.io) is missing in the "
                   "cluster: ",
                   status.message()));
}

absl::StatusOr<std::string> KubernetesQueue::Submit(const AgentJobSpec& spec) const {
  ASSIGN_OR_RETURN(const json stored, Apply(spec, /*dry_run=*/false));
  job_sets_->Put(stored);
  return TextAt(stored, "metadata", "name");
}

absl::StatusOr<std::vector<QueuedJob>> KubernetesQueue::List(
    const std::vector<std::string>& agents) const {
  ASSIGN_OR_RETURN(const std::vector<json> job_sets, job_sets_->Read());
  ASSIGN_OR_RETURN(const std::vector<json> pods, pods_->Read());
  std::vector<QueuedJob> jobs;
  for (const json& job_set : job_sets) {
    QueuedJob job = JobOfJobSet(job_set, pods);
    if (std::find(agents.begin(), agents.end(), job.name) != agents.end()) {
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

absl::Status KubernetesQueue::Cancel(const std::vector<std::string>& jobs) const {
  absl::Status first;
  for (const std::string& job : jobs) first.Update(api_->Delete(kJobSets, job));
  return first;
}

}  // namespace meshwright::cli

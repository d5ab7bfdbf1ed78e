#include "planner/interchange/export_answer.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/amounts.h"
#include "base/text/enum_names.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/typed_layout.h"
#include "planner/interchange/export.h"

namespace meshwright::planner {
namespace {

constexpr int32_t kDefaultDevicesPerNode = 8;

// The nodes of a run, as far as its launch needs them.
struct Hosts {
  int32_t devices = kDefaultDevicesPerNode;
  int64_t joined = 1;  // hosts whose devices scale_up joins
};

absl::StatusOr<Hosts> ReadHosts(const ExportQuestion& question, int32_t host_cores) {
  Hosts hosts;
  if (question.devices_per_node) hosts.devices = *question.devices_per_node;
  if (!question.cluster) return hosts;
  ASSIGN_OR_RETURN(const ClusterSpec cluster, ResolveCluster(*question.cluster, host_cores));
  if (!cluster.scale_up_spans_hosts) {
    if (!question.devices_per_node) hosts.devices = cluster.devices_per_node;
    return hosts;
  }
  if (!question.devices_per_node) {
    return FieldError("gpus_per_node", "(absent)",
                      "scale_up of " + question.cluster->name + " joins " +
                          std::to_string(cluster.devices_per_node) +
                          " devices of several hosts; must be the number of devices of a host");
  }
  hosts.joined = cluster.devices_per_node / std::max<int32_t>(1, hosts.devices);
  return hosts;
}

absl::StatusOr<LaunchRequest> ReadLaunch(const ExportQuestion& question, int64_t joined_nodes) {
  LaunchRequest request;
  request.joined_nodes = std::max<int64_t>(1, joined_nodes);
  if (!question.launch.empty()) {
    ASSIGN_OR_RETURN(request.form, KindOf(kLaunchFormNames, "launch", question.launch));
  }
  request.batch_template = question.batch_template;
  return request;
}

// Adds what it takes for values that the question does not say to `taken`.
absl::StatusOr<ExportJob> ReadJob(const ExportQuestion& question, ExportTarget target,
                                  int32_t devices_per_node, std::vector<std::string>& taken) {
  ExportJob job;
  job.training = question.training;
  if (job.training.seq_len == 0) {
    job.training.seq_len = kUnsaidSeqLen;
    taken.push_back(absl::StrCat("no sequence length is given: ", Grouped(kUnsaidSeqLen),
                                 " tokens are assumed"));
  }
  ASSIGN_OR_RETURN(job.model, ResolveModel(question.model, job.training.seq_len));
  ASSIGN_OR_RETURN(const FrameworkProfile profile, FindProfile(ProfileOfTarget(target)));
  ASSIGN_OR_RETURN(const TypedLayout typed,
                   ReadTypedLayout(question.layout, job.model, profile, std::nullopt));
  job.layout = typed.layout;
  if (job.training.global_batch == 0) {
    job.training.global_batch = int64_t{job.layout.dp} * job.layout.micro_batch * job.layout.pp;
    taken.push_back(absl::StrCat(
        "no global batch is given: ", Grouped(job.training.global_batch),
        job.training.global_batch == 1 ? " sequence a step is" : " sequences a step are",
        " assumed, a micro-batch for every rank of dp", job.layout.pp > 1 ? " and pp" : ""));
  }
  job.notes = NotesOnModel(question.model, job.training.seq_len);
  job.notes.insert(job.notes.end(), typed.notes.begin(), typed.notes.end());
  job.devices_per_node = devices_per_node;
  return job;
}

}  // namespace

absl::StatusOr<ExportAnswer> ExportAs(const std::string& to, const ExportJob& job,
                                      const LaunchRequest& launch, bool with_launch) {
  ASSIGN_OR_RETURN(const ExportTarget target, ParseExportTarget(to));
  ExportAnswer answer;
  answer.to = std::string(ExportTargetName(target));
  answer.job = job;
  answer.launch = launch.form;
  ASSIGN_OR_RETURN(answer.exported, MakeExportedJob(target, job));
  ASSIGN_OR_RETURN(answer.script, LaunchScript(answer.exported, launch));
  if (answer.exported.is_file && !with_launch) {
    answer.text = answer.exported.files.front().text;
    answer.file_name = answer.exported.files.front().name;
  } else {
    answer.text = answer.script;
    answer.file_name = launch.form == LaunchForm::kSbatch ? "run.sbatch" : "run.sh";
  }
  return answer;
}

absl::StatusOr<ExportAnswer> AnswerExport(const ExportQuestion& question, int32_t host_cores) {
  ASSIGN_OR_RETURN(const ExportTarget target, ParseExportTarget(question.to));
  ASSIGN_OR_RETURN(const Hosts hosts, ReadHosts(question, host_cores));
  ASSIGN_OR_RETURN(const LaunchRequest launch, ReadLaunch(question, hosts.joined));
  std::vector<std::string> taken;
  ASSIGN_OR_RETURN(const ExportJob job, ReadJob(question, target, hosts.devices, taken));
  ASSIGN_OR_RETURN(ExportAnswer answer,
                   ExportAs(question.to, job, launch, !question.launch.empty()));
  answer.taken = std::move(taken);
  return answer;
}

}  // namespace meshwright::planner

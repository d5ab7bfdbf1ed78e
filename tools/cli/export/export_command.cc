#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/plan_query.h"
#include "planner/catalog/typed_layout.h"
#include "planner/codec/json_codec.h"
#include "planner/interchange/export.h"
#include "planner/interchange/launch_script.h"
#include "planner/spec/run_option_table.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/exported_text.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/model_source.h"
#include "tools/cli/common/spec_source.h"
#include "tools/cli/io/json_output.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct ExportFlags {
  std::string to;
  std::string model;
  std::string cluster;
  std::string layout;
  int64_t seq_len = 4096;
  int64_t global_batch = 0;  // 0: one micro-batch for every pipeline rank
  std::optional<int32_t> devices_per_node;
  std::string dtype = "bf16";
  std::string launch;  // empty: the framework's file, or torchrun's script
  std::string batch_template;
  std::array<std::string, planner::kRunOptions.size()> options;  // empty: the framework's default
  OutputFlags output;
};

constexpr int32_t kDefaultDevicesPerNode = 8;

// The nodes of a run, as far as its launch needs them.
struct Hosts {
  int32_t devices = kDefaultDevicesPerNode;
  int64_t joined = 1;  // hosts whose devices scale_up joins
};

absl::StatusOr<Hosts> ReadHosts(const ExportFlags& flags, CommandContext& context) {
  Hosts hosts;
  if (flags.devices_per_node) hosts.devices = *flags.devices_per_node;
  if (flags.cluster.empty()) return hosts;
  ASSIGN_OR_RETURN(const planner::SpecSource source,
                   ReadSpecSource(context.files, "cluster", flags.cluster));
  ASSIGN_OR_RETURN(const planner::ClusterSpec cluster,
                   planner::ResolveCluster(source, context.host_cores));
  if (!cluster.scale_up_spans_hosts) {
    if (!flags.devices_per_node) hosts.devices = cluster.devices_per_node;
    return hosts;
  }
  if (!flags.devices_per_node) {
    return FieldError("gpus_per_node", "(absent)",
                      "the " + std::to_string(cluster.devices_per_node) + " devices of " +
                          source.name +
                          " that its scale_up joins stand in several hosts; must say how many "
                          "devices a host has");
  }
  hosts.joined = cluster.devices_per_node / std::max<int32_t>(1, hosts.devices);
  return hosts;
}

absl::StatusOr<planner::LaunchRequest> ReadLaunch(const ExportFlags& flags, int64_t joined_nodes,
                                                  CommandContext& context) {
  planner::LaunchRequest request;
  request.joined_nodes = std::max<int64_t>(1, joined_nodes);
  if (!flags.launch.empty()) {
    ASSIGN_OR_RETURN(request.form, KindOf(planner::kLaunchFormNames, "launch", flags.launch));
  }
  if (flags.batch_template.empty()) return request;
  if (request.form != planner::LaunchForm::kSbatch) {
    return FieldError("template", flags.batch_template,
                      "is a batch file; must be absent, or --launch must be sbatch");
  }
  ASSIGN_OR_RETURN(request.batch_template,
                   context.files.Read("template", flags.batch_template, kMaxSpecBytes));
  return request;
}

absl::StatusOr<planner::ExportJob> ReadJob(const ExportFlags& flags, int32_t devices_per_node,
                                           CommandContext& context) {
  planner::ExportJob job;
  ASSIGN_OR_RETURN(const planner::SpecSource source,
                   ReadModelSource(context, flags.model, flags.seq_len));
  job.training.seq_len = flags.seq_len;
  ASSIGN_OR_RETURN(job.model, planner::ResolveModel(source, job.training.seq_len));
  ASSIGN_OR_RETURN(const planner::ExportTarget target, planner::ParseExportTarget(flags.to));
  ASSIGN_OR_RETURN(const planner::FrameworkProfile profile,
                   planner::FindProfile(planner::ProfileOfTarget(target)));
  ASSIGN_OR_RETURN(const planner::TypedLayout typed,
                   planner::ReadTypedLayout(flags.layout, job.model, profile, std::nullopt));
  job.layout = typed.layout;
  job.training.global_batch = flags.global_batch;
  if (flags.global_batch == 0) {
    job.training.global_batch = int64_t{job.layout.dp} * job.layout.micro_batch * job.layout.pp;
  }
  ASSIGN_OR_RETURN(job.training.precision, planner::ParsePrecision(flags.dtype));
  if (!source.train.empty()) {
    ASSIGN_OR_RETURN(job.training.options.train, planner::ParseTrainedParts(source.train));
  }
  for (size_t i = 0; i < planner::kRunOptions.size(); ++i) {
    if (flags.options[i].empty()) continue;
    RETURN_IF_ERROR(planner::kRunOptions[i].read(flags.options[i], job.training.options));
  }
  job.notes = planner::NotesOnModel(source, job.training.seq_len);
  job.notes.insert(job.notes.end(), typed.notes.begin(), typed.notes.end());
  job.devices_per_node = devices_per_node;
  return job;
}

absl::Status RunExport(const ExportFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const Hosts hosts, ReadHosts(flags, context));
  ASSIGN_OR_RETURN(const planner::LaunchRequest launch, ReadLaunch(flags, hosts.joined, context));
  ASSIGN_OR_RETURN(const planner::ExportJob job, ReadJob(flags, hosts.devices, context));
  ASSIGN_OR_RETURN(const ExportText text,
                   ExportAs(flags.to, job, launch, /*with_launch=*/!flags.launch.empty()));
  if (flags.output.format == OutputFormat::kText) {
    context.out << text.text;
  } else {
    PrintJson(planner::WriteOrderedJson(text), context.out);
  }
  return absl::OkStatus();
}

}  // namespace

void AddExportCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = app.add_subcommand(
      "export", "Write a layout as the launch script or the configuration of a framework");
  command_line::TakeWords(
      command->add_option("--to", flags->to, "Framework that will train the model"),
      {kExportTargets.begin(), kExportTargets.end()})
      ->option_text("FRAMEWORK")
      ->required();
  command
      ->add_option(
          "--model", flags->model,
          "HuggingFace config.json or the folder of one, a Hub id that is in the local cache, - "
          "for standard input, or a preset (meshwright list models)")
      ->required()
      ->option_text("FILE|MODEL");
  command
      ->add_option("--layout", flags->layout,
                   "Layout in the form that estimate accepts: "
                   "tp2.pp2.dp8.mb1.zero1.sp1")
      ->required()
      ->option_text("LAYOUT");
  command->add_option("--seq-len", flags->seq_len, "Tokens per sequence")
      ->capture_default_str()
      ->option_text("S");
  command
      ->add_option("--global-batch", flags->global_batch,
                   "Sequences per optimizer step; default dp * mb * pp")
      ->option_text("B");
  command
      ->add_option("--cluster", flags->cluster,
                   "Cluster file, or a preset (meshwright list clusters), that says how many "
                   "devices a node has")
      ->option_text("FILE|CLUSTER");
  command
      ->add_option("--gpus-per-node", flags->devices_per_node,
                   "Devices per node; default: the number of --cluster, or 8 without --cluster")
      ->option_text("N");
  command_line::TakeWords(
      command->add_option("--dtype", flags->dtype, "Number format of the matrix products"),
      {"bf16", "fp16", "fp32", "fp8-delayed", "fp8-current", "fp8-blockwise", "mxfp8", "nvfp4"})
      ->capture_default_str();
  command_line::TakeWords(
      command->add_option(
          "--launch", flags->launch,
          "What starts the run: torchrun on every node, an srun line of an "
          "allocation, or a batch file. Default: torchrun; a framework whose export "
          "is a file of its own then prints that file"),
      {kLaunchForms.begin(), kLaunchForms.end()});
  command
      ->add_option("--template", flags->batch_template,
                   "Batch file for --launch sbatch, in which {command}, {nodes}, {gpus_per_node}, "
                   "{env} and {segment} are filled in; a line with {segment} is left out where no "
                   "nodes are joined")
      ->option_text("FILE");
  for (size_t i = 0; i < planner::kRunOptions.size(); ++i) {
    const planner::RunOption& option = planner::kRunOptions[i];
    const std::string flag = absl::StrReplaceAll(AbslView(option.name), {{"_", "-"}});
    command->add_option("--" + flag, flags->options[i], std::string(option.help))
        ->option_text(std::string(option.values));
  }
  flags->output.AddFormat(*command);
  command_line::AddExample(
      *command,
      "meshwright export --to megatron --model llama-3-8b --layout tp2.pp2.dp4.mb2.zero1.sp1 "
      "--seq-len 8192 --global-batch 64");
  command->callback([flags, &context] {
    const absl::Status status = RunExport(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright::cli

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/codec/json_codec.h"
#include "planner/interchange/export_answer.h"
#include "planner/interchange/export_fields.h"
#include "planner/interchange/launch_script.h"
#include "planner/spec/run_option_table.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/framework_flag.h"
#include "tools/cli/common/model_source.h"
#include "tools/cli/common/spec_source.h"
#include "tools/cli/io/json_output.h"
#include "tools/command_line/counts.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

struct ExportFlags {
  FrameworkFlag to;
  std::string model;
  std::string cluster;
  std::string layout;
  std::optional<int64_t> seq_len;
  int64_t global_batch = 0;  // 0: one micro-batch for every pipeline rank
  std::optional<int32_t> devices_per_node;
  std::string dtype = "bf16";
  std::string optimizer = std::string(planner::kAdamW.name);
  std::string launch;  // empty: the framework's file, or torchrun's script
  std::string batch_template;
  std::array<std::string, planner::kRunOptions.size()> options;  // empty: the framework's default
  OutputFlags output;
};

absl::StatusOr<std::string> ReadTemplate(const ExportFlags& flags, CommandContext& context) {
  if (flags.batch_template.empty()) return "";
  if (flags.launch != NameOf(planner::kLaunchFormNames, planner::LaunchForm::kSbatch)) {
    return FieldError("template", flags.batch_template,
                      "is a batch file; must be absent, or --launch must be sbatch");
  }
  return context.files.Read("template", flags.batch_template, kMaxSpecBytes);
}

absl::StatusOr<planner::ExportQuestion> ReadExportQuestion(const ExportFlags& flags,
                                                           CommandContext& context) {
  planner::ExportQuestion question;
  question.to = flags.to.name;
  if (!flags.cluster.empty()) {
    ASSIGN_OR_RETURN(question.cluster, ReadSpecSource(context.files, "cluster", flags.cluster));
  }
  question.devices_per_node = flags.devices_per_node;
  question.launch = flags.launch;
  ASSIGN_OR_RETURN(question.batch_template, ReadTemplate(flags, context));
  ASSIGN_OR_RETURN(question.model, ReadModelSource(context, flags.model,
                                                   flags.seq_len.value_or(planner::kUnsaidSeqLen)));
  question.layout = flags.layout;
  planner::TrainingSpec& training = question.training;
  if (flags.seq_len) RETURN_IF_ERROR(CheckRange("seq_len", *flags.seq_len, 1, INT64_MAX));
  training.seq_len = flags.seq_len.value_or(0);
  training.global_batch = flags.global_batch;
  ASSIGN_OR_RETURN(training.precision, planner::ParsePrecision(flags.dtype));
  ASSIGN_OR_RETURN(training.optimizer, planner::ParseOptimizer(flags.optimizer));
  if (!question.model.train.empty()) {
    ASSIGN_OR_RETURN(training.options.train, planner::ParseTrainedParts(question.model.train));
  }
  for (size_t i = 0; i < planner::kRunOptions.size(); ++i) {
    if (flags.options[i].empty()) continue;
    RETURN_IF_ERROR(planner::kRunOptions[i].read(flags.options[i], training.options));
  }
  return question;
}

absl::Status RunExport(const ExportFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const planner::ExportQuestion question, ReadExportQuestion(flags, context));
  ASSIGN_OR_RETURN(const planner::ExportAnswer answer,
                   planner::AnswerExport(question, context.host_cores));
  SayFramework(flags.to, "--to", context.err);
  if (flags.output.format == OutputFormat::kText) {
    for (const std::string& note : answer.taken) context.err << "note: " << note << "\n";
    context.out << answer.text;
  } else {
    PrintJson(planner::WriteOrderedJson(answer), context.out);
  }
  return absl::OkStatus();
}

}  // namespace

void AddExportCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = app.add_subcommand(
      "export", "Write a layout as the launch script or the configuration of a framework");
  flags->to
      .Add(*command, "--to",
           "Framework that will train the model, or a profile of it (meshwright list profiles)")
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
  command_line::TakeCount(command->add_option("--seq-len", flags->seq_len,
                                              "Tokens per sequence; 8k is 8,192; default 4,096"))
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
  AddOptimizer(*command, flags->optimizer);
  command_line::TakeWords(
      command->add_option(
          "--launch", flags->launch,
          "What starts the run: torchrun on every node, an srun line of an "
          "allocation, or a batch file. Default: torchrun; a framework whose export "
          "is a file of its own then prints that file"),
      {planner::kLaunchForms.begin(), planner::kLaunchForms.end()});
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

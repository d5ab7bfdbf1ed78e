#include "tools/cli/export_command.h"

#include <memory>
#include <string>

#include "nlohmann/json.hpp"
#include "planner/catalog/plan_query.h"
#include "planner/report/export.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/flags.h"
#include "tools/cli/json_output.h"

namespace meshwright {
namespace {

struct ExportFlags {
  std::string to;
  std::string model;
  std::string layout;
  int64_t seq_len = 4096;
  int64_t global_batch = 0;  // 0: one micro-batch for every pipeline rank
  int32_t devices_per_node = 8;
  std::string dtype = "bf16";
  OutputFlags output;
};

absl::StatusOr<ExportJob> ReadJob(const ExportFlags& flags) {
  ExportJob job;
  ASSIGN_OR_RETURN(const SpecSource source, ReadSpecSource("model", flags.model));
  ASSIGN_OR_RETURN(job.layout, ParseLayout(flags.layout));
  job.training.seq_len = flags.seq_len;
  job.training.global_batch = flags.global_batch;
  if (flags.global_batch == 0) {
    job.training.global_batch = int64_t{job.layout.dp} * job.layout.micro_batch * job.layout.pp;
  }
  ASSIGN_OR_RETURN(job.training.precision, ParsePrecision(flags.dtype));
  ASSIGN_OR_RETURN(job.model, ResolveModel(source, job.training.seq_len));
  job.devices_per_node = flags.devices_per_node;
  return job;
}

absl::Status RunExport(const ExportFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const ExportTarget target, ParseExportTarget(flags.to));
  ASSIGN_OR_RETURN(const ExportJob job, ReadJob(flags));
  ASSIGN_OR_RETURN(const std::string text, Export(target, job));
  if (flags.output.format == OutputFormat::kText) {
    context.out << text;
    return absl::OkStatus();
  }
  const nlohmann::ordered_json object = {{"to", flags.to},
                                         {"model", job.model.name},
                                         {"layout", FormatLayout(job.layout)},
                                         {"seq_len", job.training.seq_len},
                                         {"global_batch", job.training.global_batch},
                                         {"text", text}};
  PrintJson(object, context.out);
  return absl::OkStatus();
}

}  // namespace

void AddExportCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = app.add_subcommand(
      "export", "A layout as the launch flags of Megatron-LM or the configuration of torchtitan");
  command->add_option("--to", flags->to, "megatron or torchtitan")
      ->required()
      ->option_text("megatron|torchtitan");
  command
      ->add_option("--model", flags->model,
                   "HuggingFace config.json, or a preset (meshwright list models)")
      ->required()
      ->option_text("FILE|PRESET");
  command->add_option("--layout", flags->layout, "tp2.pp2.dp8.mb1.zero1.sp1, as estimate takes it")
      ->required()
      ->option_text("LAYOUT");
  command->add_option("--seq-len", flags->seq_len, "Tokens per sequence")
      ->capture_default_str()
      ->option_text("S");
  command
      ->add_option("--global-batch", flags->global_batch,
                   "Sequences per optimizer step; default dp * mb * pp")
      ->option_text("B");
  command->add_option("--gpus-per-node", flags->devices_per_node, "Devices that a node has")
      ->capture_default_str()
      ->option_text("N");
  command->add_option("--dtype", flags->dtype, "bf16 or fp32")
      ->capture_default_str()
      ->option_text("bf16|fp32");
  flags->output.AddFormat(*command);
  command->callback([flags, &context] {
    const absl::Status status = RunExport(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright

#include "tools/cli/validate_command.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "planner/measurement/validation.h"
#include "planner/report/scatter_svg.h"
#include "planner/report/validation_report.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/flags.h"
#include "tools/cli/json_output.h"
#include "tools/cli/measurement_files.h"
#include "tools/cli/validate_text.h"
#include "tools/cli/whole_file.h"

namespace meshwright {
namespace {

constexpr char kFooter[] = R"(
The files hold one run per line under a header that names the columns, in any order: source, sweep,
model, layers, hidden, ffn, heads, kv_heads, vocab, seq, gpu, gpu_mem_gib, gpus, gpus_per_node, tp,
pp, cp, ep, dp, vpp, mbs, gbs, precision, act_ckpt, attn, norm_kernel, seq_parallel, zero_stage,
schedule, framework, outcome, step_time_s, mfu, tflops_per_gpu, tokens_per_s_per_gpu, peak_mem_gib,
notes. An empty cell is unknown; outcome is ok, oom or error.

Each row is predicted with the cluster whose GPU name begins `gpu` and the profile that `framework`
names (empty: megatron). A row that can't be modelled keeps its place, with the reason.

Per sweep and in total:
  oom_caught, oom_missed    runs that ran out of memory, at or above and below 80 % of the device
  ok_kept, ok_rejected      runs that fit, below and at or above 80 % of the device
  oom_accuracy, oom_auc     of the probability of running out of memory (accuracy at 0.5)
  memory_median_error       median of |predicted / measured - 1| of the peak memory
  mfu_mae_points            mean error of the MFU, PaLM definition, in percentage points
  step_time_mape            mean of |predicted / measured - 1| of the step time
  spearman                  rank correlation of throughput; in total the mean over sweeps of at
                            least 15 rows (all rows in one ranking: spearman_pooled)
  regret_safe_points        best measured MFU less that of the fastest predicted layout below 80 % of
                            the device (row pick_safe); a pick that ran out of memory costs the full
                            best; in total the mean over sweeps of at least 2 rows
  regret_likely_points      the same below an OOM probability of 0.5 (row pick_likely)
  inside_interval           share of measured step times inside the predicted interval

Example: meshwright validate --measurements runs.csv more.csv --rows out.csv --plot out.svg)";

struct ValidateFlags {
  std::vector<std::string> measurements;
  std::string cluster;
  std::string framework;
  std::string rows;
  std::string plot;
  OutputFlags output;
};

absl::StatusOr<MeasurementPresets> Presets(const ValidateFlags& flags, int32_t host_cores) {
  ASSIGN_OR_RETURN(MeasurementPresets presets, LoadMeasurementPresets(host_cores));
  if (!flags.cluster.empty()) {
    ASSIGN_OR_RETURN(presets.cluster, ReadCluster(flags.cluster, host_cores));
  }
  if (!flags.framework.empty()) {
    ASSIGN_OR_RETURN(presets.profile, ReadFramework(flags.framework));
  }
  return presets;
}

// Nothing is written over what is read, and not two things into one file.
absl::Status CheckOutputs(const ValidateFlags& flags) {
  if (!flags.plot.empty() && flags.plot == flags.rows) {
    return FieldError("plot", flags.plot, "must be another file than --rows");
  }
  for (const std::string& input : flags.measurements) {
    for (const std::string& output : {flags.rows, flags.plot}) {
      if (output == input) return FieldError("measurements", input, "must not be written over");
    }
  }
  return absl::OkStatus();
}

absl::Status RunValidate(const ValidateFlags& flags, CommandContext& context) {
  RETURN_IF_ERROR(CheckOutputs(flags));
  ASSIGN_OR_RETURN(const std::vector<Measurement> measured,
                   ReadMeasurementFiles(flags.measurements));
  ASSIGN_OR_RETURN(const MeasurementPresets presets, Presets(flags, context.host_cores));
  std::vector<RowPrediction> rows;
  for (const Measurement& measurement : measured) {
    if (context.interrupted.load()) {
      context.err << "meshwright: interrupted; nothing was written" << std::endl;
      context.exit_code = kExitInterrupted;
      return absl::OkStatus();
    }
    rows.push_back(PredictRow(static_cast<int64_t>(rows.size()), measurement, presets));
  }
  const ValidationReport report = ReportValidation(rows);
  if (!flags.rows.empty()) {
    RETURN_IF_ERROR(WriteWholeFile("rows", flags.rows, RowsToCsv(rows)));
  }
  if (!flags.plot.empty()) {
    RETURN_IF_ERROR(WriteWholeFile("plot", flags.plot, ScatterSvg(rows)));
  }
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(ValidationToJson(report), context.out);
  } else {
    PrintValidation(report, rows, context.out);
  }
  return absl::OkStatus();
}

}  // namespace

void AddValidateCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ValidateFlags>();
  CLI::App* command =
      app.add_subcommand("validate", "Hold the planner's predictions against measured runs");
  command->footer(kFooter);
  command
      ->add_option("--measurements", flags->measurements,
                   "CSV files of measured runs; rows count from 0 over all files in this order")
      ->required()
      ->option_text("FILE...");
  command
      ->add_option("--cluster", flags->cluster,
                   "Cluster file or preset for all rows, in place of what their columns say")
      ->option_text("FILE|PRESET");
  command
      ->add_option("--framework", flags->framework,
                   "Framework profile, file or preset, for all rows")
      ->option_text("FILE|PRESET");
  command
      ->add_option("--rows", flags->rows,
                   "Write one CSV line per row: row,sweep,peak_bytes,fraction_of_device,"
                   "oom_probability,step_s,mfu,reason")
      ->option_text("OUT.csv");
  command->add_option("--plot", flags->plot, "Draw predicted against measured into this SVG file")
      ->option_text("FILE.svg");
  flags->output.AddFormat(*command);
  command->callback([flags, &context] {
    const absl::Status status = RunValidate(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/codec/json_codec.h"
#include "planner/drawing/scatter_svg.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/refusals.h"
#include "planner/measurement/validation.h"
#include "planner/replay/measured_first.h"
#include "planner/report/validation_fields.h"
#include "planner/report/validation_report.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/measurement_files.h"
#include "tools/cli/common/plot_flag.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/validate/validate_text.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

// Returns the rows of the files, with every column.
std::string DescribeFiles() {
  return absl::StrCat(
      "The files hold one run per line under a header that names the columns, in any order: ",
      absl::StrJoin(planner::MeasurementColumnNames(), ", "),
      ". An empty cell is unknown; outcome is ok, oom or error. A row whose model is a preset's "
      "name (meshwright list models), however spelt, needs no shape. An empty vocabulary means "
      "that of the model's family, and an empty micro-batch means the fastest that the planner "
      "expects to fit. An empty gbs, in a row without pipeline and speed, means one micro-batch a "
      "rank. Experts of a model that is no preset stand in the notes: "
      "experts=8;top_k=2;moe_ffn=2048. A run's options may stand there too, as loss=chunked:8; "
      "their own columns go before the notes and take what their flags take.");
}

constexpr char kValidateFooter[] = R"(

Each row is predicted with the cluster that has a GPU name with which the row's `gpu` begins
(nvidia-smi's names count too), and with the profile that `framework` names (empty: megatron). A row
that can't be modelled stays in the list, with the reason. A row with a cell that can't be read, or
that holds what no run can have (a negative time), is listed with its line. If no row at all could
be modelled, the exit code is 3.

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
  regret_likely_share       the likely pick's measured step per token divided by the best measured one,
                            less 1; mean over the `choices` between at least 6 layouts of one sweep,
                            model, global batch and number of devices (largest: _max); picks that ran
                            out of memory are counted in likely_out_of_memory instead
  inside_interval           share of measured step times inside the predicted interval
)";

struct ValidateFlags {
  std::vector<std::string> measurements;
  std::string cluster;
  std::string framework;
  std::vector<std::string> presets;
  int64_t measured_first = 0;
  std::string rows;
  std::string plot;
  OutputFlags output;
};

absl::StatusOr<planner::MeasurementPresets> Presets(const ValidateFlags& flags,
                                                    CommandContext& context) {
  ASSIGN_OR_RETURN(const PresetFiles files, PresetFiles::Read(context.files, flags.presets));
  ASSIGN_OR_RETURN(planner::MeasurementPresets presets, files.All(context.host_cores));
  if (!flags.cluster.empty()) {
    ASSIGN_OR_RETURN(presets.cluster,
                     files.Cluster(context.files, flags.cluster, context.host_cores));
  }
  if (!flags.framework.empty()) {
    ASSIGN_OR_RETURN(presets.profile, files.Framework(context.files, flags.framework));
  }
  return presets;
}

// Such as "31 runs of runs.csv, more.csv".
std::string RunsText(const std::vector<std::string>& paths, size_t runs) {
  return absl::StrCat(runs, " runs of ", absl::StrJoin(paths, ", "));
}

absl::Status RunValidate(const ValidateFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const OutputFile rows_file, context.files.Claim("rows", flags.rows));
  ASSIGN_OR_RETURN(const OutputFile plot_file, ClaimPlot(context.files, flags.plot));
  ASSIGN_OR_RETURN(const std::vector<planner::Measurement> measured,
                   ReadMeasurementFiles(context.files, flags.measurements));
  ASSIGN_OR_RETURN(const planner::MeasurementPresets presets, Presets(flags, context));
  const StopRequest stop(context);
  auto predicted = PredictRows(measured, presets, stop);
  if (!predicted) {
    context.err << "meshwright: interrupted; nothing was written" << std::endl;
    context.exit_code = stop.exit_code();
    return absl::OkStatus();
  }
  std::vector<planner::RowPrediction> rows = *std::move(predicted);
  if (flags.measured_first > 0) planner::GiveFirstRows(flags.measured_first, measured, rows);
  const planner::ValidationReport report = planner::ReportValidation(rows);
  const planner::Refusals refusals = planner::CountRefusals(rows);
  if (rows_file.wanted()) RETURN_IF_ERROR(rows_file.Write(planner::RowsToCsv(rows)));
  if (plot_file.wanted())
    RETURN_IF_ERROR(plot_file.Write(
        planner::ScatterSvg(rows, OriginOf(RunsText(flags.measurements, rows.size()), context))));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(planner::ValidationText{report, refusals}), context.out);
  } else {
    PrintValidation(report, refusals, context.out);
  }
  context.exit_code = report.total.modelled > 0 ? kExitOk : kExitNothingFits;
  return absl::OkStatus();
}

}  // namespace

void AddValidateCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ValidateFlags>();
  CLI::App* command =
      app.add_subcommand("validate", "Hold the planner's predictions against measured runs");
  command->footer("\n" + DescribeFiles() + kValidateFooter);
  command
      ->add_option("--measurements", flags->measurements,
                   "CSV files of measured runs; rows count from 0 over all files in this order")
      ->required()
      ->option_text("FILE.csv...");
  command
      ->add_option("--cluster", flags->cluster,
                   "Cluster file or preset for all rows, in place of what their columns say")
      ->option_text("FILE|CLUSTER");
  command
      ->add_option("--framework", flags->framework,
                   "Framework profile, file or preset, for all rows")
      ->option_text("FILE|PROFILE");
  command
      ->add_option("--presets", flags->presets,
                   "Cluster and framework files that take the place of the presets of their names "
                   "where rows are matched")
      ->option_text("FILE.json...");
  command
      ->add_option(
          "--measured-first", flags->measured_first,
          "Give each sweep (rows of one sweep, model, batch and number of GPUs) the results of "
          "the N rows that the planner would run first, and correct the estimates of its "
          "other rows by them; the errors are then those of the other rows")
      ->check(CLI::Range(int64_t{1}, int64_t{100}).description(""))
      ->option_text("N");
  command
      ->add_option("--rows", flags->rows,
                   "Write one CSV line per row: row, sweep, peak_bytes, fraction_of_device, "
                   "oom_probability, step_s, mfu, reason, step_low_s, step_high_s, "
                   "measured_step_s, level, measured")
      ->option_text("FILE.csv");
  AddPlot(*command, flags->plot, "Draw predicted against measured into this SVG file");
  flags->output.AddFormat(*command);
  command_line::AddExample(
      *command,
      "meshwright validate --measurements runs.csv more.csv --rows out.csv --plot out.svg");
  command->callback([flags, &context] {
    const absl::Status status = RunValidate(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright::cli

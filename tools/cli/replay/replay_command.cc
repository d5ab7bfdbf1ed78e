#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "base/system/run_program.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/replay/replay.h"
#include "planner/report/replay_report.h"
#include "server/engine/engine_replay.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/measurement_files.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"
#include "tools/cli/replay/tpe_order.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr double kTpeTimeoutS = 3600.0;

constexpr char kReplayFooter[] = R"(
The files are those of `meshwright validate --help`. The rows of one sweep and one global batch are
the layouts that the sweep may run. The server's engine runs the sweep as it would run a new one,
with the rows' results in place of agents' results: after each result it corrects the estimates of
the other layouts, and next it runs the layout whose expected improvement on the best so far is
largest. Before a row runs, the engine sees of it only what it would see of a layout before a trial;
afterwards it sees the row's outcome and step time too.

Per sweep:
  trials, oom_trials        trials until the sweep stopped; of them, those out of memory
  found_regret_points       best measured MFU of the sweep less that of the best trial, in points
  trials_to_within_1_point  trials until the best was within 1 point; the same for two orders
                            without feedback: the fastest predicted first, and at random (the median
                            of 200); and, with --tpe, for Optuna's TPE (the median of 5 seeds)
  related_results           with --relatives, an experiment: results of other sweeps that the sweep
                            began with. Each sweep is replayed without such results, and then again
                            with what the trials of the nearest other sweeps found, with which a new
                            sweep on a server begins too
  trial_rows                rows in the order of the trials, counted from 0 over all files
)";

struct ReplayFlags {
  std::vector<std::string> measurements;
  std::vector<std::string> presets;
  std::string sweep;
  bool tpe = false;
  bool relatives = false;
  planner::TrialPolicyOptions policy;
  OutputFlags output;
};

// Keeps the requested sweep's replay, or all.
absl::Status KeepSweep(const std::string& name, std::vector<planner::SweepReplay>& sweeps) {
  if (name.empty()) return absl::OkStatus();
  std::erase_if(sweeps, [&](const planner::SweepReplay& sweep) { return sweep.sweep != name; });
  if (!sweeps.empty()) return absl::OkStatus();
  return FieldError("sweep", name, "must be the sweep of a row in the files");
}

// Keeps only that sweep's rows.
void KeepRows(const std::string& sweep, std::vector<planner::Measurement>& measured,
              std::vector<planner::RowPrediction>& rows) {
  if (sweep.empty()) return;
  const auto is_other = [&](const auto& row) { return row.sweep != sweep; };
  std::erase_if(measured, is_other);
  std::erase_if(rows, is_other);
}

std::string Points(const planner::OptionalNumber& points) {
  return points ? absl::StrFormat("%.2f", *points) : "-";
}

std::string Count(const planner::OptionalNumber& count) {
  return count ? absl::StrFormat("%g", *count) : "-";
}

std::string Count(const planner::OptionalInt& count) { return count ? FormatCount(*count) : "-"; }

void PrintTrials(const planner::SweepReplay& sweep, std::ostream& out) {
  for (size_t i = 0; i < sweep.trial_rows.size(); ++i) {
    out << i + 1 << ": row " << sweep.trial_rows[i] << ", " << sweep.reasons[i] << "\n";
  }
  out << "stopped: " << sweep.stop_reason << "\n\n";
}

void PrintTotal(const planner::ReplayTotal& total, std::ostream& out) {
  if (total.sweeps == 0) return;
  out << absl::StrFormat(
      "\n%d of the %d sweeps with at least %d rows end within %g point of MFU and %g %% of their\n"
      "best run; the worst ends %.2f points below it; %.2f trials a sweep on average, at most\n"
      "%d; at most %d of the trials of a sweep ran out of memory\n",
      total.found, total.sweeps, planner::kLeastRows, planner::kFoundPoints,
      100.0 * planner::kFoundShare, total.worst_regret_points.value_or(0.0),
      total.mean_trials.value_or(0.0), total.most_trials, total.most_oom_trials);
}

// Prints a line for each sweep with candidates, and the totals. A single sweep is shown trial by
// trial.
void PrintReplay(absl::Span<const planner::SweepReplay> sweeps, bool with_relatives,
                 std::ostream& out) {
  Table table({"sweep", "batch", "rows", "ok", "best MFU", "trials", "out of memory", "failed",
               "regret", "to 1 point", "predicted order", "random order", "TPE"});
  int64_t without = 0;
  for (const planner::SweepReplay& sweep : sweeps) {
    if (sweep.candidates == 0) {
      ++without;
      continue;
    }
    if (sweeps.size() == 1) PrintTrials(sweep, out);
    table.Add({sweep.sweep.empty() ? "(no name)" : sweep.sweep, Count(sweep.global_batch),
               FormatCount(sweep.rows), FormatCount(sweep.ok),
               sweep.best_mfu ? FormatPercent(*sweep.best_mfu) : "-", FormatCount(sweep.trials),
               FormatCount(sweep.oom_trials), FormatCount(sweep.error_trials),
               Points(sweep.found_regret_points), Count(sweep.trials_to_within_1_point),
               Count(sweep.predicted_order.trials_to_within_1_point),
               Count(sweep.random_order.trials_to_within_1_point),
               Count(sweep.tpe_order.trials_to_within_1_point)});
  }
  table.Print(out);
  out << "regret: best measured MFU less that of the best trial, in points; the last four: trials "
         "until within 1 point of it (TPE only with --tpe)\n";
  if (without > 0) {
    out << without << (without == 1 ? " sweep has" : " sweeps have")
        << " no row that the planner can model\n";
  }
  if (with_relatives) {
    out << "each sweep began with what trials of related sweeps in these files had found\n";
  }
  PrintTotal(planner::TotalOf(sweeps), out);
}

absl::Status RunReplay(const ReplayFlags& flags, CommandContext& context) {
  RETURN_IF_ERROR(CheckPositive("trials", flags.policy.max_trials));
  RETURN_IF_ERROR(CheckPositive("min_gain", flags.policy.min_gain));
  ASSIGN_OR_RETURN(std::vector<planner::Measurement> measured,
                   ReadMeasurementFiles(context.files, flags.measurements));
  ASSIGN_OR_RETURN(const PresetFiles files, PresetFiles::Read(context.files, flags.presets));
  ASSIGN_OR_RETURN(const planner::MeasurementPresets presets, files.All(context.host_cores));
  const StopRequest stop(context);
  auto predicted = PredictRows(measured, presets, stop);
  if (!predicted) {
    context.err << "meshwright: interrupted" << std::endl;
    context.exit_code = stop.exit_code();
    return absl::OkStatus();
  }
  std::vector<planner::RowPrediction>& rows = *predicted;
  // With related sweeps the rows of all sweeps are needed, since any may be related.
  if (!flags.relatives) KeepRows(flags.sweep, measured, rows);
  std::vector<planner::SweepReplay> sweeps = planner::ReplaySweeps(
      measured, rows,
      [&](absl::Span<const planner::ReplayCandidate> candidates, const planner::RunRecorded& run,
          const planner::RelatedSweeps& relatives) {
        return server::RunByEngine(candidates, run, flags.policy.max_trials, flags.policy.min_gain,
                                   relatives);
      },
      flags.relatives);
  RETURN_IF_ERROR(KeepSweep(flags.sweep, sweeps));
  if (flags.tpe) {
    const absl::StatusOr<std::string> version =
        AddTpeOrder(absl::MakeSpan(sweeps), [](const std::vector<std::string>& arguments) {
          return RunProgram(arguments, kTpeTimeoutS);
        });
    if (!version.ok()) {
      context.err << "note: without TPE: " << version.status().message() << std::endl;
    }
  }
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(planner::ReplayToJson(sweeps, flags.relatives), context.out);
  } else {
    PrintReplay(sweeps, flags.relatives, context.out);
  }
  const bool any = std::any_of(sweeps.begin(), sweeps.end(), [](const planner::SweepReplay& sweep) {
    return sweep.candidates > 0;
  });
  context.exit_code = any ? kExitOk : kExitNothingFits;
  return absl::OkStatus();
}

}  // namespace

void AddReplayCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<ReplayFlags>();
  CLI::App* command = app.add_subcommand(
      "replay", "Replay measured sweeps: choose their trials and report what the trials find");
  command->footer(kReplayFooter);
  command
      ->add_option("--measurements", flags->measurements,
                   "CSV files of measured runs; rows count from 0 over all files in this order")
      ->required()
      ->option_text("FILE.csv...");
  command
      ->add_option("--sweep", flags->sweep,
                   "Replay only the sweep with this "
                   "name")
      ->option_text("NAME");
  command->add_option("--trials", flags->policy.max_trials, "Most trials of a sweep")
      ->capture_default_str()
      ->option_text("N");
  command
      ->add_option("--min-gain", flags->policy.min_gain,
                   "Stop once no layout is expected to be faster by this share of the best step "
                   "time")
      ->capture_default_str()
      ->option_text("SHARE");
  command
      ->add_option("--presets", flags->presets,
                   "Cluster and framework files that take the place of the presets of their names")
      ->option_text("FILE.json...");
  command->add_flag(
      "--tpe", flags->tpe,
      "Also report the median trials of Optuna's TPE; needs Optuna in python3 and takes minutes");
  command->add_flag("--relatives", flags->relatives,
                    "Let each sweep begin with what trials of the other sweeps in the files found");
  flags->output.AddFormat(*command);
  command_line::AddExample(*command, "meshwright replay --measurements runs.csv --sweep llama-13b");
  command->callback([flags, &context] {
    const absl::Status status = RunReplay(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright::cli

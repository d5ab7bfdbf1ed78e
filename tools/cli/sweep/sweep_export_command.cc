#include <memory>
#include <string>
#include <vector>

#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "executor/trial/trial.h"
#include "planner/layout/layout.h"
#include "planner/measurement/run_rows.h"
#include "tools/cli/commands.h"
#include "tools/cli/sweep/sweep_calls.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr char kExportFooter[] = R"(
One line per trial that has a result of its own, in the columns of `meshwright validate --help`; trials
that were cancelled, have not ended or have the result of an earlier sweep are left out.

`meshwright calibrate` can fit profiles to these rows. Give it as --framework what their column
`framework` names: meshwright, if Meshwright's own worker ran the trials.)";

struct SweepExportFlags {
  OutputFlags output;  // errors are reported as text
  std::string format = "csv";
  std::string name;
  std::string file;
};

planner::RunOutcome OutcomeOf(trial::TrialOutcome outcome) {
  if (outcome == trial::TrialOutcome::kOk) return planner::RunOutcome::kOk;
  return outcome == trial::TrialOutcome::kOom ? planner::RunOutcome::kOom
                                              : planner::RunOutcome::kError;
}

absl::StatusOr<std::vector<planner::MeasuredRun>> RunsOf(const std::vector<TrialView>& trials) {
  std::vector<planner::MeasuredRun> runs;
  for (const TrialView& trial : trials) {
    if (!trial.measured || !trial.trial.reused_from().empty()) continue;
    planner::MeasuredRun& run = runs.emplace_back();
    ASSIGN_OR_RETURN(run.layout, planner::ParseLayout(trial.trial.layout()));
    run.outcome = OutcomeOf(trial.measured->outcome);
    if (run.outcome == planner::RunOutcome::kOk) run.step_s = trial.measured->step_s;
    if (const int64_t peak_bytes = PeakBytes(*trial.measured); peak_bytes > 0) {
      run.peak_bytes = peak_bytes;
    }
  }
  return runs;
}

// Returns a trial's plan; the model is the same in all of a sweep's plans.
absl::StatusOr<trial::TrialPlan> PlanOf(v1::Sweeps::Stub& stub, const v1::Trial& trial) {
  v1::GetTrialRequest request;
  request.set_name(trial.name());
  ASSIGN_OR_RETURN(const v1::Trial found, Call(stub, &v1::Sweeps::Stub::GetTrial, request));
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson("plan", found.plan_json()));
  return trial::TrialPlanFromJson(json);
}

absl::Status Export(const SweepExportFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string id, SweepId(flags.name));
  ASSIGN_OR_RETURN(const OutputFile file, context.files.Claim("output", flags.file));
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  ASSIGN_OR_RETURN(const v1::Sweep sweep, ReadSweep(*stub, id));
  ASSIGN_OR_RETURN(std::vector<TrialView> trials, ReadTrials(*stub, id));
  ASSIGN_OR_RETURN(const std::vector<planner::MeasuredRun> runs, RunsOf(trials));
  if (runs.empty() && sweep.trials_reused() > 0) {
    return absl::FailedPreconditionError("every result of sweep " + id +
                                         " is an earlier sweep's: export that one");
  }
  if (runs.empty()) {
    return absl::FailedPreconditionError("sweep " + id + " has no trial with a result yet");
  }
  ASSIGN_OR_RETURN(const trial::TrialPlan plan, PlanOf(*stub, trials.front().trial));
  ASSIGN_OR_RETURN(const ShownSweep view, ViewOf(sweep, std::move(trials)));
  const std::string csv =
      planner::RunsToCsv({id, sweep.profile(), plan.model, view.cluster, plan.training}, runs);
  if (file.wanted()) {
    RETURN_IF_ERROR(file.Write(csv));
  } else {
    context.out << csv;
  }
  context.err << runs.size() << (runs.size() == 1 ? " row" : " rows") << " of "
              << view.trials.size() << " trials" << (file.wanted() ? " in " + file.path() : "")
              << std::endl;
  return absl::OkStatus();
}

}  // namespace

void AddSweepExportCommand(CLI::App& group, CommandContext& context) {
  auto flags = std::make_shared<SweepExportFlags>();
  CLI::App* command = AddSweepAction(
      group, context, "export", "Write a sweep's results as rows that validate and calibrate read",
      flags, Export);
  command->footer(kExportFooter);
  command->add_option("name", flags->name, "Name of the sweep")->required()->option_text("NAME");
  command_line::TakeWords(command->add_option("--format", flags->format, "Format of the rows"),
                          {"csv"})
      ->capture_default_str();
  command
      ->add_option("-o,--output", flags->file,
                   "File to which the rows are written; default: "
                   "standard output")
      ->option_text("FILE.csv");
  command_line::AddExample(*command, "meshwright sweep export tinystories-15m-1 -o runs.csv");
}

}  // namespace meshwright::cli

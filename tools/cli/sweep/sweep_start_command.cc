#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/wire/wire.h"
#include "planner/catalog/plan_query.h"
#include "planner/codec/json_codec.h"
#include "planner/policy/trial_policy.h"
#include "planner/report/answers.h"
#include "proto/meshwright/v1/resource_names.h"
#include "server/sweeps/sweep_builder.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/devices_flag.h"
#include "tools/cli/common/runner_flags.h"
#include "tools/cli/io/input_error.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/text.h"
#include "tools/cli/sweep/sweep_calls.h"
#include "tools/cli/sweep/sweep_fields.h"
#include "tools/cli/sweep/sweep_follow.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr char kWorkersProfile[] = "meshwright";
using server::kUsualCandidates;

struct StartFlags {
  QueryFlags query;
  OutputFlags output;
  std::string name;  // of the new sweep
  int32_t trials = planner::TrialPolicyOptions().max_trials;
  int32_t candidates = 0;
  double min_gain = planner::TrialPolicyOptions().min_gain;
  bool fresh = false;
  std::vector<std::string> layouts;
  std::optional<int32_t> steps;
  int64_t seed = 0;
  std::optional<double> memory_limit_gib;
  std::string runner;
  std::vector<std::string> fields;  // KEY=VALUE
  bool ask = false;
  bool watch = false;
};

struct RerunFlags {
  OutputFlags output;
  std::string source;
  std::string name;  // of the new sweep
  bool watch = false;
};

// Numbers are sent as they are: the server reports those out of range.
absl::StatusOr<v1::CreateSweepRequest> ReadRequest(const StartFlags& flags,
                                                   const planner::PlanQuery& query) {
  v1::CreateSweepRequest request;
  RETURN_IF_ERROR(CheckNewSweepName(flags.name));
  *request.mutable_plan() = wire::ToWire(query);
  // Only the server knows what a cluster file resolves to.
  if (flags.query.dtype.empty()) request.mutable_plan()->clear_dtype();
  if (!flags.runner.empty()) {
    ASSIGN_OR_RETURN(const auto fields, ParseFieldValues("field", flags.fields));
    request.set_runner(flags.runner);
    request.mutable_runner_fields()->insert(fields.begin(), fields.end());
    // The server plans by the runner's own profile.
    if (flags.query.framework == kWorkersProfile) request.mutable_plan()->clear_framework();
  }
  request.set_ask(flags.ask);
  if (flags.steps) RETURN_IF_ERROR(CheckRange("steps", *flags.steps, 1, trial::kMostSteps));
  RETURN_IF_ERROR(CheckRange("seed", flags.seed, 0, INT64_MAX));
  request.set_trials(flags.trials);
  request.set_candidates(flags.candidates);
  request.set_min_gain(flags.min_gain);
  request.set_fresh(flags.fresh);
  for (const std::string& layout : flags.layouts) request.add_layouts(layout);
  request.set_steps(flags.steps.value_or(0));
  request.set_seed(static_cast<uint64_t>(flags.seed));
  if (flags.memory_limit_gib) {
    ASSIGN_OR_RETURN(const int64_t limit, ParseMemoryLimit(*flags.memory_limit_gib));
    request.set_memory_limit_bytes(limit);
  }
  request.set_sweep_id(flags.name);
  return request;
}

// Says for which framework the layouts were chosen: not recommend's default, unless it was named.
std::string PlannedAs(const v1::Sweep& sweep) {
  const std::string& profile = sweep.profile();
  if (!sweep.runner().empty()) {
    return absl::StrCat("planned as framework ", profile, "; its trials are commands of ",
                        sweep.runner());
  }
  if (sweep.ask()) {
    return absl::StrCat("planned as framework ", profile, "; meshwright sweep ask ",
                        ShortName(sweep.name()), " hands out its trials");
  }
  if (profile == kWorkersProfile) {
    return "planned as the worker runs (framework meshwright), for that is what its trials "
           "measure; recommend plans for megatron unless told otherwise";
  }
  return absl::StrCat("planned as framework ", profile,
                      ", as --framework said; its trials measure Meshwright's own worker");
}

// Returns the notes that recommend has on the same query, except those that depend on the agents'
// hosts.
std::vector<std::string> NotesOnStart(const planner::PlanQuery& query) {
  std::vector<std::string> notes = planner::NotesOnModel(query.model, query.training.seq_len);
  constexpr int32_t kAnyCores = 1;
  const absl::StatusOr<planner::ClusterSpec> cluster =
      planner::ResolveCluster(query.cluster, kAnyCores);
  if (!cluster.ok() || planner::SharesCores(cluster->device_kind())) return notes;
  for (std::string& note : planner::NotesOn(*cluster, query.devices))
    notes.push_back(std::move(note));
  return notes;
}

// Returns "2 trials", or how many are chosen among how many layouts, independent of how many have
// begun meanwhile.
std::string TrialsText(const v1::Sweep& sweep) {
  const bool chooses = sweep.max_trials() > 0;
  const int32_t trials = chooses ? sweep.max_trials() : sweep.trials();
  std::string text =
      absl::StrCat(chooses ? "at most " : "", trials, trials == 1 ? " trial" : " trials");
  if (chooses) {
    absl::StrAppend(&text, " of ", sweep.candidates(), " layouts, until none is expected to gain ",
                    FormatPercent(sweep.min_gain()));
  }
  if (sweep.trials_reused() > 0) {
    absl::StrAppend(&text, ", ", sweep.trials_reused(), " with the results of earlier sweeps");
  }
  return text;
}

// Prints the sweep that was created, and follows it if requested.
absl::Status SayStarted(const v1::Sweep& sweep, std::vector<std::string> notes,
                        const OutputFlags& output, bool watch, CommandContext& context) {
  const std::string name = ShortName(sweep.name());
  const bool text = output.format == OutputFormat::kText;
  if (text) {
    for (const std::string& note : notes) context.out << "note: " << note << "\n";
    context.out << "sweep " << name << ": " << TrialsText(sweep);
    if (!watch) context.out << ", " << StateName(sweep.state()) << " (" << sweep.reason() << ")";
    context.out << "\n" << PlannedAs(sweep) << std::endl;
  } else if (!watch) {
    notes.push_back(PlannedAs(sweep));
    PrintJson(planner::WriteOrderedJson(StartedText{{sweep}, notes}), context.out);
  }
  if (watch) {
    RETURN_IF_ERROR(FollowSweep(output.server, name, 0, output.format, context));
    if (text && context.exit_code == kExitOk) {
      context.out << "meshwright sweep show " << name << ' ' << output.server.ToText()
                  << " compares predicted and measured\n";
    }
  } else if (text) {
    context.out << "follow it with: meshwright sweep watch " << name << ' '
                << output.server.ToText() << "\n";
  }
  return absl::OkStatus();
}

absl::Status Start(const StartFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const planner::PlanQuery query,
                   flags.query.ToQuery(context, flags.output.server));
  ASSIGN_OR_RETURN(const v1::CreateSweepRequest request, ReadRequest(flags, query));
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  const absl::StatusOr<v1::Sweep> sweep = Call(*stub, &v1::Sweeps::Stub::CreateSweep, request);
  const absl::Status status =
      RenameField(RenameField(sweep.status(), "sweep_id", "name"), "layouts", "layout");
  if (absl::IsFailedPrecondition(status)) {
    ReportError(context, flags.output.format, status);
    context.exit_code = kExitNothingFits;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(status);
  return SayStarted(*sweep, NotesOnStart(query), flags.output, flags.watch, context);
}

absl::Status Rerun(const RerunFlags& flags, CommandContext& context) {
  v1::RerunSweepRequest request;
  RETURN_IF_ERROR(CheckNewSweepName(flags.name));
  ASSIGN_OR_RETURN(const std::string source, SweepId(flags.source));
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  request.set_name(FormatSweepName(source));
  request.set_sweep_id(flags.name);
  ASSIGN_OR_RETURN(const v1::Sweep sweep, Call(*stub, &v1::Sweeps::Stub::RerunSweep, request));
  return SayStarted(sweep, {}, flags.output, flags.watch, context);
}

void AddNewSweepFlags(CLI::App& command, std::string& name, bool& watch) {
  command.add_option("--name", name, "Default: the model's name and a number")->option_text("NAME");
  command.add_flag("--watch", watch, "Follow the sweep until it has ended");
}

}  // namespace

void AddSweepStartCommand(CLI::App& group, CommandContext& context) {
  auto flags = std::make_shared<StartFlags>();
  flags->query.framework = kWorkersProfile;
  CLI::App* start = AddSweepAction(
      group, context, "start",
      "Run layouts of a search as trials until no other layout is worth a trial", flags, Start);
  flags->output.AddFormat(*start);
  flags->query.AddModel(*start);
  flags->query.AddCluster(*start);
  flags->query.AddTraining(*start);
  flags->query.AddFramework(*start);
  flags->query.AddMeasured(*start);
  start
      ->add_option("--trials", flags->trials,
                   "Run at most K trials, each chosen by the results so far; the sweep may stop "
                   "earlier by itself")
      ->capture_default_str()
      ->option_text("K");
  start
      ->add_option(
          "--min-gain", flags->min_gain,
          "Stop once no layout is expected to shorten the best step by this share or more; "
          "0: run all trials")
      ->capture_default_str()
      ->option_text("SHARE");
  start
      ->add_option("--candidates", flags->candidates,
                   absl::StrCat("Choose trials among the N best layouts of the search; default ",
                                kUsualCandidates, ", or K if that is more"))
      ->option_text("N");
  start->add_flag("--fresh", flags->fresh,
                  "Use no results of earlier sweeps: run layouts even if the server has their "
                  "results for the same model, cluster, training and worker, and don't correct "
                  "estimates by related sweeps");
  start
      ->add_option("--layout", flags->layouts,
                   "Also run this layout; may be repeated. With --trials 0, only these layouts run")
      ->allow_extra_args(false)
      ->option_text("LAYOUT");
  start
      ->add_option(
          "--steps", flags->steps,
          "Optimizer steps of each trial; without it a trial runs until its median step time "
          "is known, or is known to be slower than the best, at most 50 steps")
      ->option_text("N");
  start->add_option("--seed", flags->seed, "Random seed of weights and tokens")
      ->capture_default_str()
      ->option_text("N");
  CLI::Option* const runner =
      start->add_option("--runner", flags->runner,
                        "Run the trials in the framework of this runner, which agents were "
                        "started with (agent --runner), instead of Meshwright's own worker");
  runner->option_text("NAME");
  start->add_option("--field", flags->fields, "Value of a field of the runner; may be repeated")
      ->needs(runner)
      ->allow_extra_args(false)
      ->option_text("KEY=VALUE");
  start
      ->add_flag(
          "--ask", flags->ask,
          "Hand the trials out one by one (sweep ask) to people who run them with a launcher "
          "of their own and tell the results (sweep tell), instead of running them on agents")
      ->excludes(runner);
  start
      ->add_option("--memory-limit-gib", flags->memory_limit_gib,
                   "Memory limit of each rank in GiB, in the prediction and in the trial")
      ->option_text("X");
  AddNewSweepFlags(*start, flags->name, flags->watch);
  command_line::AddExample(
      *start,
      "meshwright sweep start --model tinystories-15m --cluster local-cpu --gpus 4 "
      "--seq-len 256 --global-batch 8 --watch");
}

void AddSweepRerunCommand(CLI::App& group, CommandContext& context) {
  auto flags = std::make_shared<RerunFlags>();
  CLI::App* rerun = AddSweepAction(group, context, "rerun",
                                   "Run a sweep's trials again, as a new sweep of the same layouts",
                                   flags, Rerun);
  flags->output.AddFormat(*rerun);
  rerun->add_option("sweep", flags->source, "Name of the sweep whose trials to run")
      ->required()
      ->option_text("NAME");
  AddNewSweepFlags(*rerun, flags->name, flags->watch);
  command_line::AddExample(*rerun, "meshwright sweep rerun tinystories-15m-1 --watch");
}

}  // namespace meshwright::cli

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/command/command_slice.h"
#include "executor/command/command_trial.h"
#include "executor/trial/capabilities.h"
#include "executor/trial/named_kernels.h"
#include "executor/trial/slice_runner.h"
#include "executor/trial/timeout.h"
#include "executor/trial/trial_runner.h"
#include "nlohmann/json.hpp"
#include "planner/catalog/catalog.h"
#include "planner/codec/json_codec.h"
#include "planner/report/answers.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/devices_flag.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/runner_flags.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/common/utilisation_text.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/progress.h"
#include "tools/cli/io/text.h"
#include "tools/cli/trial/trial_fields.h"
#include "tools/cli/trial/trial_text.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

struct TrialFlags {
  QueryFlags query;
  OutputFlags output;
  std::string layout;
  std::string devices;
  std::optional<int32_t> steps;
  int64_t seed = 0;
  std::optional<double> memory_limit_gib;
  double timeout_s = 300.0;
  std::string trace;
  bool slice = false;
  planner::Routing routing = planner::Routing::kBalanced;
  RunnerFlags runner;
};

// The planner's prediction for the same layout here.
struct Prediction {
  planner::SearchRequest request;
  planner::Estimate estimate;
  std::vector<std::string> notes;  // on the model
};

absl::StatusOr<Prediction> Predict(const TrialFlags& flags, const planner::Layout& layout,
                                   const std::optional<int64_t>& memory_limit_bytes,
                                   CommandContext& context) {
  ASSIGN_OR_RETURN(planner::PlanQuery query, flags.query.ToQuery(context));
  query.devices = layout.devices();
  query.training.routing = flags.routing;
  Prediction prediction;
  ASSIGN_OR_RETURN(prediction.request, planner::Resolve(query, context.host_cores));
  if (memory_limit_bytes) prediction.request.cluster.device.memory_bytes = *memory_limit_bytes;
  ASSIGN_OR_RETURN(prediction.estimate, planner::CheckAndEstimate(prediction.request, layout));
  prediction.notes = query.model.notes;
  return prediction;
}

absl::StatusOr<trial::TrialPlan> MakePlan(const TrialFlags& flags, const wire::DeviceSet& devices,
                                          const planner::Layout& layout,
                                          const planner::SearchRequest& request,
                                          const std::optional<int64_t>& memory_limit_bytes,
                                          const std::optional<ChosenRunner>& runner) {
  const int32_t steps = flags.steps.value_or(trial::kMostAdaptiveSteps);
  RETURN_IF_ERROR(CheckRange("steps", steps, 1, trial::kMostSteps));
  RETURN_IF_ERROR(CheckRange("seed", flags.seed, 0, INT64_MAX));
  RETURN_IF_ERROR(trial::CheckTimeout(flags.timeout_s));
  if (flags.slice && flags.routing == planner::Routing::kLearned) {
    return FieldError("routing", "learned",
                      "must be balanced with --slice: a rank alone gets no other rank's tokens");
  }
  // Slices run one after the other.
  const int64_t ranks = flags.slice ? 1 : layout.devices();
  if (devices.count < ranks) {
    return FieldError(
        "devices", flags.devices,
        absl::StrCat("the layout needs ", ranks, " ranks, but there are only ", devices.count,
                     devices.kind == planner::DeviceKind::kCpu ? "" : " CUDA devices"));
  }
  if (runner) {
    if (flags.slice && !runner->runner.slice) {
      return FieldError("runner", runner->runner.name,
                        "must have \"slice\", the command of one rank alone, for --slice");
    }
    RETURN_IF_ERROR(command::CheckLayout(runner->runner, layout));
  } else {
    RETURN_IF_ERROR(trial::CheckRules(request.model, layout, request.training, devices.kind));
  }
  trial::TrialPlan plan;
  if (runner) plan.runner = runner->choice;
  plan.model = request.model;
  plan.layout = layout;
  plan.training = request.training;
  plan.device = devices.kind;
  plan.steps = steps;
  plan.adaptive = !flags.steps.has_value();
  plan.seed = static_cast<uint64_t>(flags.seed);
  plan.memory_limit_bytes = memory_limit_bytes;
  plan.timeout_s = flags.timeout_s;
  plan.trace = !flags.trace.empty();
  plan.peak_flops =
      planner::RankPeakFlops(request.cluster, request.training.precision, layout.devices());
  return plan;
}

// Estimates the memory on the devices here, whatever cluster the layout is for: a CPU's operators
// need other amounts than CUDA's.
absl::Status EstimateMemoryHere(const TrialFlags& flags, const planner::SearchRequest& request,
                                int32_t host_cores, trial::TrialPlan& plan) {
  planner::SearchRequest here = request;
  if (plan.device == planner::DeviceKind::kCpu &&
      (flags.slice || request.cluster.device_kind() != planner::DeviceKind::kCpu)) {
    ASSIGN_OR_RETURN(here.cluster, planner::FindCluster("local-cpu", host_cores));
  }
  planner::EstimateContext context = planner::ContextOf(here);
  context.ranks_run_alone = flags.slice;
  plan.estimated_bytes = planner::EstimateAllocatorBytes(context, plan.layout);
  plan.estimated_host_bytes = planner::EstimateHostBytes(context, plan.layout);
  // A slice has no communicators.
  if (!flags.slice) {
    plan.estimated_communicator_bytes = planner::EstimateCommunicatorBytes(context, plan.layout);
  }
  return absl::OkStatus();
}

// `trace` gets the trace of all ranks, where it is wanted and the trial succeeds.
trial::TrialResult Run(const TrialFlags& flags, const trial::TrialPlan& plan,
                       const Prediction& prediction, const wire::DeviceSet& devices,
                       const std::optional<ChosenRunner>& runner, std::string& trace,
                       CommandContext& context) {
  const planner::SearchRequest& request = prediction.request;
  const command::ModelledStep modelled{.cluster = request.cluster.name,
                                       .part = prediction.estimate.time};
  ProgressLine progress(context.err);
  trial::TrialRunnerOptions options{
      .worker_path = context.worker_path(), .progress = {}, .cancel = &context.interrupted};
  options.progress = [&progress](const trial::TrialProgress& at) {
    std::string text = at.part.empty() ? "steps" : absl::StrCat("steps of ", at.part);
    if (at.loss) absl::StrAppendFormat(&text, ", loss %.4f", *at.loss);
    absl::StrAppend(&text, ", ", FormatSeconds(at.step_s), " per step");
    progress.Update(at.step, at.steps, text);
  };
  options.device_memory_bytes = devices.memory_bytes;
  options.warn = [&context](const std::string& text) {
    context.err << "meshwright: " << text << std::endl;
  };
  options.trace = [&](const std::vector<trial::RankTrace>& ranks) {
    trace = trial::StepTrace(plan.layout, ranks);
  };
  trial::TrialResult result =
      runner && flags.slice ? command::RunCommandSlice(plan, runner->runner,
                                                       HostOfCommands(context), modelled, options)
      : runner ? command::RunCommandTrial(plan, runner->runner, HostOfCommands(context), options)
      : flags.slice ? trial::RunSliceTrial(plan, planner::ContextOf(request), options)
                    : trial::RunTrial(plan, options);
  progress.Finish();
  return result;
}

void Print(const TrialFlags& flags, const planner::Layout& layout, const Prediction& prediction,
           const trial::TrialResult& result, std::ostream& out) {
  if (flags.output.format != OutputFormat::kJson) {
    for (const std::string& note : prediction.notes) out << "note: " << note << "\n";
    return PrintTrial(layout, prediction.estimate, prediction.request.cluster.name, result, out);
  }
  const planner::ClusterSpec& cluster = prediction.request.cluster;
  ordered_json measured = {{"outcome", std::string(trial::TrialOutcomeName(result.outcome))}};
  measured.update(ordered_json(ToJson(result)));
  LocalTrialText text{.layout = planner::FormatLayout(layout),
                      .result = {std::move(measured)},
                      .seed = flags.seed,
                      .predicted = {layout, prediction.estimate},
                      .peak_source = PeakSource(cluster),
                      .notes = prediction.notes};
  for (std::string& note : planner::NotesOn(cluster, layout.devices())) {
    text.notes.push_back(std::move(note));
  }
  if (result.peak_flops.has_value()) {
    const std::string why =
        WhyAboveOne(result.mfu_of_peak, result.mfu_causal_of_peak, *result.peak_flops);
    if (!why.empty()) text.notes.push_back(why);
  }
  PrintJson(planner::WriteOrderedJson(text), out);
}

absl::Status RunTrialCommand(const TrialFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const OutputFile trace_file, context.files.Claim("trace", flags.trace));
  // A text that is no layout is refused before the devices are looked for.
  RETURN_IF_ERROR(planner::ParseLayout(flags.layout).status());
  ASSIGN_OR_RETURN(const std::optional<ChosenRunner> runner, flags.runner.Read());
  ASSIGN_OR_RETURN(const wire::DeviceSet devices,
                   ResolveDevices(flags.devices, context.worker_path(), context));
  // A slice's devices are not those of its layout.
  const auto layout_devices = flags.slice ? std::nullopt : std::optional<int64_t>(devices.count);
  ASSIGN_OR_RETURN(planner::Layout layout, planner::ParseLayoutOn(flags.layout, layout_devices));
  std::optional<int64_t> memory_limit_bytes;
  if (flags.memory_limit_gib) {
    ASSIGN_OR_RETURN(memory_limit_bytes, ParseMemoryLimit(*flags.memory_limit_gib));
  }
  TrialFlags resolved = flags;
  if (runner) resolved.query.framework = runner->runner.framework;
  if (resolved.query.cluster.empty()) {
    if (flags.slice) {
      return FieldError("cluster", "",
                        "must name the cluster that the layout is for, since --slice is given");
    }
    resolved.query.cluster = devices.kind == planner::DeviceKind::kCpu ? "local-cpu" : "h100";
  }
  ASSIGN_OR_RETURN(const Prediction prediction,
                   Predict(resolved, layout, memory_limit_bytes, context));
  if (!runner) layout = trial::WithNamedKernels(layout, prediction.request.profile, devices.kind);
  ASSIGN_OR_RETURN(trial::TrialPlan plan, MakePlan(flags, devices, layout, prediction.request,
                                                   memory_limit_bytes, runner));
  RETURN_IF_ERROR(EstimateMemoryHere(flags, prediction.request, context.host_cores, plan));
  const StopRequest stop(context);
  std::string trace;
  const trial::TrialResult result = Run(flags, plan, prediction, devices, runner, trace, context);
  Print(flags, layout, prediction, result, context.out);
  context.exit_code = result.outcome == trial::TrialOutcome::kOk          ? kExitOk
                      : result.outcome == trial::TrialOutcome::kCancelled ? stop.exit_code()
                                                                          : kExitFailed;
  return trace.empty() ? absl::OkStatus() : trace_file.Write(trace);
}

}  // namespace

void AddTrialCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<TrialFlags>();
  flags->query.framework = "meshwright";
  CLI::App* command = app.add_subcommand("trial", "Run a few real steps of one layout here");
  flags->query.AddModel(*command);
  flags->query.AddTraining(*command);
  command->add_option("--layout", flags->layout, "Such as tp2.cp1.pp2.dp1.mb1")
      ->required()
      ->option_text("LAYOUT");
  command->add_option("--devices", flags->devices, "Ranks on this processor, or every GPU")
      ->required()
      ->option_text("cpu:N|cuda");
  command
      ->add_option(
          "--cluster", flags->query.cluster,
          "Cluster of the prediction; default local-cpu, or h100 on CUDA; required with --slice")
      ->option_text("FILE|CLUSTER");
  command
      ->add_option("--steps", flags->steps,
                   "Optimizer steps; without it the trial runs until its median step time is "
                   "known, at most 50")
      ->option_text("N");
  command->add_option("--seed", flags->seed, "Random seed of weights and tokens")
      ->capture_default_str()
      ->option_text("N");
  command
      ->add_option("--memory-limit-gib", flags->memory_limit_gib,
                   "Memory limit of each rank's allocator in GiB")
      ->option_text("X");
  command
      ->add_option("--timeout-s", flags->timeout_s,
                   "Seconds without a sign of life from a rank after which the trial fails")
      ->capture_default_str()
      ->option_text("T");
  command
      ->add_option("--trace", flags->trace,
                   "Write what every rank did in the last step, for Perfetto")
      ->option_text("FILE");
  command
      ->add_flag("--slice", flags->slice,
                 "Run one rank of each distinct stage alone (by a runner: the last rank), charge its "
                 "communication from the cluster's model and compose the step: one device answers "
                 "for any layout")
      ->excludes("--trace");
  flags->runner.Add(*command);
  command->get_option("--runner")->excludes("--trace");
  command->get_option("--command")->excludes("--trace")->excludes("--slice");
  command_line::AddEnumOption<planner::Routing>(
      *command, "--routing", flags->routing,
      "How the router sends tokens: evenly to all experts, or to the experts with the best scores",
      {{"balanced", planner::Routing::kBalanced}, {"learned", planner::Routing::kLearned}});
  flags->output.AddFormat(*command);
  command_line::AddExample(
      *command,
      "meshwright trial --model tinystories-15m --layout tp2.pp2.dp1.mb2 --seq-len 256 "
      "--global-batch 8 --devices cpu:4 --steps 3");
  command->callback([flags, &context] {
    const absl::Status status = RunTrialCommand(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright::cli

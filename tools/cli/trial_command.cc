#include "tools/cli/trial_command.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "executor/trial/named_kernels.h"
#include "executor/trial/slice_runner.h"
#include "executor/trial/timeout.h"
#include "executor/trial/trial_runner.h"
#include "nlohmann/json.hpp"
#include "planner/catalog/catalog.h"
#include "planner/report/answers.h"
#include "planner/report/estimate_json.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/devices_flag.h"
#include "tools/cli/flags.h"
#include "tools/cli/json_output.h"
#include "tools/cli/progress.h"
#include "tools/cli/text.h"
#include "tools/cli/trial_text.h"
#include "tools/cli/whole_file.h"

namespace meshwright {
namespace {

using nlohmann::ordered_json;

struct TrialFlags {
  QueryFlags query;
  OutputFlags output;
  std::string layout;
  std::string devices;
  std::optional<int32_t> steps;
  int64_t seed = 0;
  double memory_limit_gib = 0.0;
  double timeout_s = 300.0;
  std::string trace;
  bool slice = false;
};

// What the planner expects of the same layout here.
struct Prediction {
  SearchRequest request;
  Estimate estimate;
};

absl::StatusOr<Prediction> Predict(const TrialFlags& flags, const Layout& layout,
                                   const std::optional<int64_t>& memory_limit_bytes,
                                   int32_t host_cores) {
  ASSIGN_OR_RETURN(PlanQuery query, flags.query.ToQuery());
  query.devices = layout.devices();
  Prediction prediction;
  ASSIGN_OR_RETURN(prediction.request, Resolve(query, host_cores));
  if (memory_limit_bytes) prediction.request.cluster.device.memory_bytes = *memory_limit_bytes;
  ASSIGN_OR_RETURN(prediction.estimate, CheckAndEstimate(prediction.request, layout));
  return prediction;
}

absl::StatusOr<TrialPlan> MakePlan(const TrialFlags& flags, const DeviceSet& devices,
                                   const Layout& layout, const SearchRequest& request,
                                   const std::optional<int64_t>& memory_limit_bytes) {
  const int32_t steps = flags.steps.value_or(kMostAdaptiveSteps);
  RETURN_IF_ERROR(CheckRange("steps", steps, 1, kMostSteps));
  RETURN_IF_ERROR(CheckRange("seed", flags.seed, 0, INT64_MAX));
  RETURN_IF_ERROR(CheckTimeout(flags.timeout_s));
  // Slices run one after the other.
  const int64_t ranks = flags.slice ? 1 : layout.devices();
  if (devices.count < ranks) {
    return FieldError("devices", flags.devices,
                      absl::StrCat("the layout needs ", ranks, " ranks, here are ", devices.count,
                                   devices.kind == DeviceKind::kCpu ? "" : " CUDA devices"));
  }
  RETURN_IF_ERROR(CheckRunnable(request.model, layout, request.training, devices.kind));
  TrialPlan plan;
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
  plan.peak_flops = RankPeakFlops(request.cluster, request.training.precision, layout.devices());
  return plan;
}

// What the devices here are expected to hold, whatever cluster the layout is for: a CPU's operators
// take other memory than CUDA's.
absl::Status EstimateMemoryHere(const TrialFlags& flags, const SearchRequest& request,
                                int32_t host_cores, TrialPlan& plan) {
  SearchRequest here = request;
  if (plan.device == DeviceKind::kCpu && (flags.slice || request.cluster.physical_cores == 0)) {
    ASSIGN_OR_RETURN(here.cluster, FindCluster("local-cpu", host_cores));
  }
  EstimateContext context = ContextOf(here);
  context.ranks_run_alone = flags.slice;
  plan.estimated_bytes = EstimateAllocatorBytes(context, plan.layout);
  // A slice is connected to nobody.
  if (!flags.slice) {
    plan.estimated_communicator_bytes = EstimateCommunicatorBytes(context, plan.layout);
  }
  return absl::OkStatus();
}

// `trace` gets that of all ranks, where it is wanted and the trial ends well.
TrialResult Run(const TrialFlags& flags, const TrialPlan& plan, const SearchRequest& request,
                std::string& trace, CommandContext& context) {
  ProgressLine progress(context.err, context.err_is_terminal);
  TrialRunnerOptions options{
      .worker_path = context.worker_path(), .progress = {}, .cancel = &context.interrupted};
  options.progress = [&progress](const TrialProgress& at) {
    std::string text = at.part.empty() ? "steps" : absl::StrCat("steps of ", at.part);
    if (at.loss) absl::StrAppendFormat(&text, ", loss %.4f", *at.loss);
    absl::StrAppend(&text, ", ", FormatSeconds(at.step_s), " per step");
    progress.Update(at.step, at.steps, text);
  };
  options.trace = [&](const std::vector<RankTrace>& ranks) {
    trace = StepTrace(plan.layout, ranks);
  };
  const TrialResult result =
      flags.slice ? RunSliceTrial(plan, ContextOf(request), options) : RunTrial(plan, options);
  progress.Finish();
  return result;
}

void Print(const TrialFlags& flags, const Layout& layout, const Prediction& prediction,
           const TrialResult& result, std::ostream& out) {
  if (flags.output.format != OutputFormat::kJson) {
    return PrintTrial(layout, prediction.estimate, result, out);
  }
  ordered_json object = {{"layout", FormatLayout(layout)},
                         {"outcome", std::string(OutcomeName(result.outcome))}};
  object.update(ordered_json(ToJson(result)));
  object["seed"] = flags.seed;
  object["predicted"] = LayoutToJson(layout, prediction.estimate);
  object["notes"] = NotesOn(prediction.request.cluster, layout.devices());
  PrintJson(object, out);
}

absl::Status RunTrialCommand(const TrialFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(Layout layout, ParseLayout(flags.layout));
  ASSIGN_OR_RETURN(const DeviceSet devices,
                   ResolveDevices(flags.devices, context.worker_path(), context));
  std::optional<int64_t> memory_limit_bytes;
  if (flags.memory_limit_gib != 0.0) {
    ASSIGN_OR_RETURN(memory_limit_bytes, ParseMemoryLimit(flags.memory_limit_gib));
  }
  TrialFlags resolved = flags;
  if (resolved.query.cluster.empty()) {
    if (flags.slice) {
      return FieldError("cluster", "", "a slice trial needs the cluster that the layout is for");
    }
    resolved.query.cluster = devices.kind == DeviceKind::kCpu ? "local-cpu" : "h100";
  }
  ASSIGN_OR_RETURN(const Prediction prediction,
                   Predict(resolved, layout, memory_limit_bytes, context.host_cores));
  layout = WithNamedKernels(layout, prediction.request.profile, devices.kind);
  ASSIGN_OR_RETURN(TrialPlan plan,
                   MakePlan(flags, devices, layout, prediction.request, memory_limit_bytes));
  RETURN_IF_ERROR(EstimateMemoryHere(flags, prediction.request, context.host_cores, plan));
  if (!flags.trace.empty()) RETURN_IF_ERROR(CheckWritable("trace", flags.trace));
  std::string trace;
  const TrialResult result = Run(flags, plan, prediction.request, trace, context);
  Print(flags, layout, prediction, result, context.out);
  context.exit_code = result.outcome == Outcome::kOk          ? kExitOk
                      : result.outcome == Outcome::kCancelled ? kExitInterrupted
                                                              : kExitFailed;
  return trace.empty() ? absl::OkStatus() : WriteWholeFile("trace", flags.trace, trace);
}

}  // namespace

void AddTrialCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<TrialFlags>();
  flags->query.framework = "meshwright";
  CLI::App* command = app.add_subcommand("trial", "Run a few real steps of one layout here");
  flags->query.AddModel(*command);
  flags->query.AddTraining(*command);
  command->add_option("--layout", flags->layout, "tp2.cp1.pp2.dp1.mb1")
      ->required()
      ->option_text("LAYOUT");
  command->add_option("--devices", flags->devices, "Ranks on this processor, or every GPU")
      ->required()
      ->option_text("cpu:N|cuda");
  command
      ->add_option(
          "--cluster", flags->query.cluster,
          "What the prediction is for; default local-cpu, with cuda h100; required with --slice")
      ->option_text("FILE|PRESET");
  command
      ->add_option(
          "--steps", flags->steps,
          "Optimizer steps; without it as many as the median takes to be known, at most 50")
      ->option_text("N");
  command->add_option("--seed", flags->seed, "Of weights and tokens")
      ->capture_default_str()
      ->option_text("N");
  command
      ->add_option("--memory-limit-gib", flags->memory_limit_gib,
                   "What each rank's allocator may hold")
      ->option_text("X");
  command->add_option("--timeout-s", flags->timeout_s, "Longest wait for a sign of life of a rank")
      ->capture_default_str()
      ->option_text("T");
  command
      ->add_option("--trace", flags->trace,
                   "Write what every rank did in the last step, for Perfetto")
      ->option_text("FILE");
  command
      ->add_flag("--slice", flags->slice,
                 "Run one rank of each distinct stage alone, charge its communication from the "
                 "cluster's model and compose the step: one device answers for any layout")
      ->excludes("--trace");
  flags->output.AddFormat(*command);
  command->callback([flags, &context] {
    const absl::Status status = RunTrialCommand(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright

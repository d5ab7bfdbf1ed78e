#include "executor/worker/run/worker.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "executor/host/host.h"
#include "executor/trial/rank_events.h"
#include "executor/trial/routed_memory.h"
#include "executor/trial/step_profile.h"
#include "executor/trial/timeout.h"
#include "executor/trial/trial_runner.h"
#include "executor/trial/worker_version.h"
#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/comm/fake_communicator.h"
#include "executor/worker/comm/gloo_communicator.h"
#include "executor/worker/comm/open_device.h"
#include "executor/worker/observe/failure_event.h"
#include "executor/worker/run/peak_flops.h"
#include "executor/worker/run/rendezvous.h"
#include "executor/worker/run/step_agreement.h"
#include "executor/worker/run/trainer.h"
#include "planner/layout/mesh.h"
#include "planner/schedule/schedule.h"
#include "planner/schedule/synchronous_sends.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::worker {
namespace {

// Returns for example "rank 3 (tp0 pp1 dp0)".
std::string RankName(const RankContext& context) {
  const planner::Mesh mesh(context.layout);
  std::vector<std::string> places;
  for (const planner::LayoutKey& key : planner::kAxes) {
    if (key.text != planner::KeyText::kNeeded && context.layout.*key.count == 1) continue;
    const auto axis = static_cast<planner::Axis>(&key - planner::kAxes.data());
    places.push_back(absl::StrCat(std::string(key.name), mesh.PlaceOf(context.rank, axis)));
  }
  return absl::StrCat("rank ", context.rank, " (", absl::StrJoin(places, " "), ")");
}

// Returns the number of cores of all the plan's ranks if each ran on a host like this one.
int32_t CoresOfAll(const trial::TrialPlan& plan, int32_t local_ranks) {
  return static_cast<int32_t>(host::PhysicalCores() * plan.layout.devices() /
                              trial::RanksAtOnce(plan, local_ranks));
}

// Returns nothing if the plan has no estimate, or where routing is forced, which leaves the
// estimate valid.
std::optional<int64_t> RoutedBytesOf(const trial::TrialPlan& plan, const RankContext& context,
                                     int32_t local_ranks,
                                     const std::vector<std::vector<planner::ExpertRows>>& steps) {
  const bool learned = plan.training.routing == planner::Routing::kLearned;
  if (!learned || !plan.model.has_experts() || plan.estimated_bytes.empty()) return std::nullopt;
  const auto bytes =
      trial::RoutedBytes(plan, context.coordinates.pp, steps, CoresOfAll(plan, local_ranks));
  return bytes.ok() ? std::optional<int64_t>(*bytes) : std::nullopt;
}

// Runs the steps and writes their events.
void Train(RankContext& context, const trial::TrialPlan& plan, int32_t local_ranks,
           planner::ScheduleLists lists, double peak_flops, const EventWriter& events,
           const WorkerHooks& hooks) {
  context.device->ResetPeakMemory();
  const int32_t open_sends =
      planner::OpenSendsNeeded(plan.layout, static_cast<int32_t>(context.micro_batches()), lists);
  Trainer trainer(context, std::move(lists[context.coordinates.pp]), open_sends);
  // A slice's messages arrive at once, and only a pipeline posts receives ahead.
  if (plan.device == planner::DeviceKind::kCuda && plan.layout.pp > 1 && !plan.slice) {
    trainer.Rehearse();
    context.device->ResetPeakMemory();
  }
  if (hooks.before_training) hooks.before_training(trainer);
  // The first of the ranks that hold the head.
  const bool tells_loss =
      context.rank ==
      planner::Mesh(context.layout).Moved(0, planner::Axis::kPp, context.coordinates.pp);
  StepAgreement agreement(
      context, {.steps = plan.steps, .adaptive = plan.adaptive, .beat_step_s = plan.beat_step_s});
  trial::StepRecord last;
  std::vector<std::vector<planner::ExpertRows>> routed;  // by step
  trial::StopReason stop = trial::StopReason::kNone;
  for (int32_t step = 0; stop == trial::StopReason::kNone; ++step) {
    if (hooks.before_step) hooks.before_step(context.rank, step);
    events.Write(ToJson(trial::BeginEvent{.step = step}));
    StepResult result = trainer.Step(step);
    trial::StepEvent event{.step = step,
                           .step_s = result.step_s,
                           .profile = ProfileOf(result.record),
                           .loss = tells_loss ? result.loss : std::nullopt,
                           .gradient_square_sum = std::nullopt};
    // A rank that runs alone only has its own gradients.
    if (!plan.slice) event.gradient_square_sum = result.gradient_square_sum;
    events.Write(ToJson(std::move(event)));
    last = std::move(result.record);
    routed.push_back(std::move(result.expert_rows));
    stop = agreement.After(result.step_s);
  }
  const trial::MemoryPeaks peaks = context.device->PeakMemory();
  trial::DoneEvent done{.stop_reason = stop,
                        .peak_bytes = peaks.allocated_bytes,
                        .device_memory = peaks.device,
                        .peak_host_bytes = context.host_memory.peak_bytes(),
                        .peak_in_flight = trainer.peak_in_flight(),
                        .measured_peak_flops = peak_flops,
                        .expert_load = context.expert_traffic.load,
                        .expert_tokens = std::move(context.expert_traffic.tokens),
                        .estimated_routed_bytes = RoutedBytesOf(plan, context, local_ranks, routed),
                        .trace = std::nullopt};
  if (plan.trace)
    done.trace = trial::TracedStep{.name = RankName(context), .record = std::move(last)};
  events.Write(ToJson(std::move(done)));
}

absl::Status RunRank(const trial::TrialPlan& plan, const WorkerEnvironment& environment,
                     const EventWriter& events, const WorkerHooks& hooks, RankContext& context) {
  context.model = plan.model;
  context.layout = plan.layout;
  context.training = plan.training;
  context.seed = plan.seed;
  context.rank = environment.rank;
  context.coordinates = CoordinatesOf(plan.layout, environment.rank);
  auto lists = planner::MakeSchedules(plan.layout, static_cast<int32_t>(context.micro_batches()));
  if (!lists.ok()) return lists.status();
  auto device = OpenDevice(plan.device, environment.local_rank, environment.address);
  if (!device.ok()) return device.status();
  context.device = *std::move(device);
  context.clock.Use(context.device->MakeClock());
  at::set_num_threads(static_cast<int>(planner::ThreadsPerRank(
      host::PhysicalCores(), trial::RanksAtOnce(plan, environment.local_world_size))));
  const auto timeout = trial::OperationTimeout(plan.timeout_s);
  // Must outlive the groups: the first rank serves it.
  c10::intrusive_ptr<c10d::Store> store;
  if (plan.slice) {
    ConnectGroupsWith(
        context, [&](const GroupSpec& group) { return MakeFakeCommunicator(group, context.rank); },
        timeout);
  } else if (plan.layout.devices() > 1) {
    store = OpenStore(environment, timeout);
    ConnectGroups(context, store, timeout);
  }
  const c10::InferenceMode no_tape;
  const double peak_flops =
      plan.known_peak_flops > 0.0 ? plan.known_peak_flops : MeasurePeakFlops(context);
  if (plan.memory_limit_bytes.has_value()) {
    context.device->SetMemoryLimit(*plan.memory_limit_bytes);
  }
  Train(context, plan, environment.local_world_size, *std::move(lists), peak_flops, events, hooks);
  CloseGroups(context);
  return absl::OkStatus();
}

}  // namespace

int RunWorker(const trial::TrialPlan& plan, const WorkerEnvironment& environment,
              const EventWriter& events, const WorkerHooks& hooks) {
  DisableFlightRecorder();
  KeepMatmulsWithoutScratch();
  events.Write(ToJson(trial::HelloEvent{.pid = ::getpid(),
                                        .host = host::HostName(),
                                        .version = std::string(trial::WorkerVersion())}));
  RankContext context;
  try {
    const absl::Status status = RunRank(plan, environment, events, hooks, context);
    if (status.ok()) return 0;
    events.Write(ToJson(trial::ErrorEvent{.kind = trial::ErrorKind::kPlan,
                                          .message = std::string(status.message())}));
  } catch (const std::exception& error) {
    const auto shortage =
        context.device != nullptr ? context.device->AsMemoryShortage(error) : std::nullopt;
    events.Write(ToJson(FailureEvent(error, shortage, context.coordinates.pp)));
  }
  return 1;
}

}  // namespace meshwright::worker

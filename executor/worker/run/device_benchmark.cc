#include "executor/worker/run/device_benchmark.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "executor/host/host.h"
#include "executor/trial/benchmark_events.h"
#include "executor/trial/rank_events.h"
#include "executor/trial/timeout.h"
#include "executor/trial/worker_version.h"
#include "executor/worker/comm/barrier.h"
#include "executor/worker/comm/cpu_device.h"
#include "executor/worker/comm/gloo_communicator.h"
#include "executor/worker/comm/open_device.h"
#include "executor/worker/observe/operation_timer.h"
#include "executor/worker/run/benchmark_cases.h"
#include "executor/worker/run/rendezvous.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::worker {
namespace {

// The last measured case of each series, from which an upper bound for the next one follows.
class SeriesTimes {
 public:
  // Returns 0 for the first of its series.
  double Expected(const BenchmarkCase& next) const {
    const auto last = last_.find(next.series);
    return last == last_.end() ? 0.0 : last->second.seconds * next.work / last->second.work;
  }
  void Note(const BenchmarkCase& done, double seconds) {
    last_[done.series] = {done.work, seconds};
  }

 private:
  struct Done {
    double work;
    double seconds;
  };
  std::map<std::string, Done> last_;
};

// Gives each case an equal share of the remaining budget.
void MeasureAll(const std::vector<BenchmarkCase>& cases, double budget_s, OperationTimer& timer,
                const EventWriter& events, bool tells) {
  SeriesTimes times;
  for (size_t i = 0; i < cases.size(); ++i) {
    const BenchmarkCase& next = cases[i];
    const double left_s = std::max(0.0, budget_s - timer.spent_s());
    const double slot_s = left_s / static_cast<double>(cases.size() - i);
    trial::MeasuredEvent event{.done = static_cast<int32_t>(i + 1),
                               .cases = static_cast<int32_t>(cases.size())};
    if (next.needed || times.Expected(next) <= slot_s) {
      const std::function<void()> operation =
          next.takes_part ? next.prepare() : std::function<void()>();
      const planner::Timing time = timer.Measure(operation, next.takes_part, slot_s);
      times.Note(next, time.best_s);
      if (tells) next.tell(time, event);
    }
    if (tells) {
      events.Write(trial::ToJson(event));
    } else {
      events.Write(trial::ToJson(trial::AliveEvent{event.done, event.cases}));
    }
  }
}

std::vector<int32_t> AllRanks(int32_t count) {
  std::vector<int32_t> ranks(static_cast<size_t>(count));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

// The groups that a rank communicates in; all null if it is alone.
struct Groups {
  std::unique_ptr<Communicator> world;
  // The group with the rank's neighbour; null on a last rank without a neighbour.
  std::unique_ptr<Communicator> pair;
  std::unique_ptr<Communicator> messages;
};

Groups Connect(Device& device, const c10::intrusive_ptr<c10d::Store>& store, int32_t rank,
               int32_t ranks, std::chrono::milliseconds timeout) {
  const auto connect = [&](const char* name, std::vector<int32_t> members, Traffic traffic) {
    return device.Connect(
        store, {.name = name, .ranks = std::move(members), .timeout = timeout, .traffic = traffic},
        rank);
  };
  Groups groups;
  groups.world = connect("world", AllRanks(ranks), Traffic::kCollectives);
  const int32_t first = rank / 2 * 2;
  if (first + 1 < ranks) {
    groups.pair = connect("pair", {first, first + 1}, Traffic::kCollectives);
    groups.messages = connect("messages", {first, first + 1}, Traffic::kMessages);
  }
  return groups;
}

// Closes all groups in order, once all ranks are here.
void Close(Groups& groups, Device& device) {
  Barrier(*groups.world, device);
  for (Communicator* group : {groups.messages.get(), groups.pair.get(), groups.world.get()}) {
    if (group != nullptr) group->Close();
  }
}

absl::Status RunRank(const trial::BenchmarkPlan& plan, const WorkerEnvironment& environment,
                     const EventWriter& events) {
  absl::StatusOr<std::unique_ptr<Device>> device =
      OpenDevice(plan.device, environment.local_rank, environment.address);
  if (!device.ok()) return device.status();
  const bool shares_cores = planner::SharesCores(plan.device);
  const int32_t cores = host::PhysicalCores();
  at::set_num_threads(static_cast<int>(planner::ThreadsPerRank(cores, plan.ranks)));
  DeviceDescription description = (*device)->Describe();
  if (shares_cores) description.memory_bytes /= plan.ranks;
  if (environment.rank == 0) {
    events.Write(trial::ToJson(
        trial::DeviceEvent{.name = description.name,
                           .memory_bytes = description.memory_bytes,
                           .compute_units = description.compute_units,
                           .physical_cores = shares_cores ? cores : 0,
                           .machine = {.driver = shares_cores ? "" : host::NvidiaDriverVersion(),
                                       .cuda = description.cuda_version,
                                       .nccl = description.nccl_version,
                                       .host_cpu = host::ProcessorName()}}));
  }
  const auto timeout = trial::OperationTimeout(plan.timeout_s);
  // Must outlive the groups: the first rank serves it.
  c10::intrusive_ptr<c10d::Store> store;
  Groups groups;
  if (plan.ranks > 1) {
    store = OpenStore(environment, timeout);
    groups = Connect(**device, store, environment.rank, plan.ranks, timeout);
  }
  const c10::InferenceMode no_tape;
  OperationTimer timer(**device, groups.world.get());
  MeasureAll(BenchmarkCases({.device = **device,
                             .rank = environment.rank,
                             .ranks = plan.ranks,
                             .memory_bytes = description.memory_bytes,
                             .world = groups.world.get(),
                             .pair = groups.pair.get(),
                             .messages = groups.messages.get()}),
             plan.budget_s, timer, events, environment.rank == 0);
  if (plan.ranks > 1) Close(groups, **device);
  return absl::OkStatus();
}

void WriteError(const EventWriter& events, trial::ErrorKind kind, std::string message) {
  events.Write(trial::ToJson(trial::ErrorEvent{.kind = kind, .message = std::move(message)}));
}

}  // namespace

int RunBenchmarkRank(const trial::BenchmarkPlan& plan, const WorkerEnvironment& environment,
                     const EventWriter& events) {
  DisableFlightRecorder();
  KeepMatmulsWithoutScratch();
  events.Write(trial::ToJson(trial::HelloEvent{.pid = ::getpid(),
                                               .host = host::HostName(),
                                               .version = std::string(trial::WorkerVersion())}));
  try {
    const absl::Status status = RunRank(plan, environment, events);
    if (status.ok()) {
      events.Write(trial::ToJson(trial::BenchmarkDoneEvent()));
      return 0;
    }
    WriteError(events, trial::ErrorKind::kPlan, std::string(status.message()));
  } catch (const CommunicationError& error) {
    WriteError(events, trial::ErrorKind::kCommunication, error.what());
  } catch (const std::exception& error) {
    WriteError(events, trial::ErrorKind::kInternal, error.what());
  }
  return 1;
}

}  // namespace meshwright::worker

#include "tools/cli/serve/fleet_scaler.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/text/status_macros.h"
#include "tools/cli/serve/nodes_in_queue.h"

namespace meshwright::cli {
namespace {

std::string DeviceKindOf(const AgentFleet& fleet) {
  return fleet.devices.kind == planner::DeviceKind::kCpu ? "cpu" : "cuda";
}

Scaling DecisionsOf(const FleetScaling& scaling) {
  const AgentFleet& fleet = scaling.launch.fleet;
  const std::vector<std::string> names = AgentNames(fleet);
  const bool is_cpu = fleet.devices.kind == planner::DeviceKind::kCpu;
  return Scaling(
      scaling.limits,
      {.kind = DeviceKindOf(fleet), .count = is_cpu ? fleet.devices.count : fleet.gpus_per_node},
      std::set<std::string>(names.begin(), names.end()));
}

}  // namespace

// The analyzer does not follow the constructors of AgentJobs and Scaling, which set all members.
// NOLINTNEXTLINE(clang-analyzer-optin.cplusplus.UninitializedObject)
FleetScaler::FleetScaler(FleetScaling scaling, server::SweepEngine* engine, LogFunction log)
    : scaling_(std::move(scaling)),
      engine_(engine),
      clock_start_(absl::Now() - MonotonicNow().since_start),
      world_{.queue = scaling_.queue,
             .log = std::move(log),
             .clock = MonotonicNow,
             .sleep = absl::SleepFor,
             .stopped = [this] { return stopping_.load(); },
             .may_submit = [this](const std::string& job) { return Admit(job); }},
      jobs_(scaling_.launch, world_),
      decisions_(DecisionsOf(scaling_)) {}

absl::StatusOr<std::unique_ptr<FleetScaler>> FleetScaler::Start(FleetScaling scaling,
                                                                server::SweepEngine* engine,
                                                                LogFunction log) {
  auto scaler = absl::WrapUnique(new FleetScaler(std::move(scaling), engine, std::move(log)));
  RETURN_IF_ERROR(scaler->jobs_.Begin());
  scaler->thread_ = std::thread([raw = scaler.get()] { raw->Run(); });
  return scaler;
}

void FleetScaler::Stop() {
  if (stopping_.exchange(true) || !thread_.joinable()) return;
  thread_.join();
}

void FleetScaler::Run() {
  while (!stopping_.load()) {
    Look();
    jobs_.Wait();
  }
  jobs_.End();
}

void FleetScaler::Look() {
  const server::EngineDemand demand = engine_->Demand();
  const NodesWanted wanted = decisions_.Look(world_.clock(), demand);
  Tell(wanted);
  const int32_t wanted_jobs = WantedJobs(wanted.nodes, demand);
  jobs_.agent_jobs().Aim({.jobs = wanted_jobs, .closed = ClosedJobs(demand.closed)});
  // No agent is let go while the state of the jobs is unknown.
  if (!jobs_.Look()) return;
  TellQueue();
  LetGo(wanted_jobs, demand);
}

void FleetScaler::TellQueue() {
  const AgentFleet& fleet = scaling_.launch.fleet;
  // The engine forgets it if it starts anew from the store, so that this is said each time.
  const absl::Status status = engine_->Request(server::NodesQueued{
      .device_kind = DeviceKindOf(fleet),
      .text = NodesInQueue(jobs_.agent_jobs().Jobs(), fleet.nodes_per_job, clock_start_)});
  if (!status.ok()) Say(LogLevel::kWarning, std::string(status.message()));
}

std::vector<FleetJob> FleetScaler::Jobs() const {
  std::vector<FleetJob> jobs;
  for (AgentJob& job : jobs_.agent_jobs().Jobs()) {
    std::vector<std::string> agents = AgentsOf(job.agent);
    jobs.push_back({.job = std::move(job), .agents = std::move(agents)});
  }
  return jobs;
}

int32_t FleetScaler::WantedJobs(int32_t nodes, const server::EngineDemand& demand) {
  const AgentFleet& fleet = scaling_.launch.fleet;
  if (nodes == 0 || fleet.nodes_per_job == 1) return JobsFor(nodes);
  const int32_t missing = MissingAgents(world_.clock(), Jobs(), demand, scaling_.limits.idle);
  if (missing != std::exchange(told_missing_, missing) && missing > 0) {
    Say(LogLevel::kWarning,
        absl::StrCat(missing, missing == 1 ? " agent" : " agents",
                     " of running jobs take no trials: further nodes stand in for them"));
  }
  return JobsFor(std::min(nodes + missing, fleet.nodes));
}

void FleetScaler::LetGo(int32_t wanted_jobs, const server::EngineDemand& demand) {
  const MayGo may = WhoMayGo(world_.clock(), Jobs(), wanted_jobs, demand, scaling_.limits.idle);
  for (const std::string& job : may.closed) Release(job);
  int64_t most = may.most_spare;
  for (const std::string& job : may.spare) {
    if (most == 0) break;
    if (Release(job)) --most;
  }
}

std::vector<std::string> FleetScaler::AgentsOf(const std::string& job) const {
  return AgentsOfJob(scaling_.launch.fleet, job);
}

int32_t FleetScaler::JobsFor(int32_t nodes) const {
  const int32_t per_job = scaling_.launch.fleet.nodes_per_job;
  return (nodes + per_job - 1) / per_job;
}

std::set<std::string> FleetScaler::ClosedJobs(const std::set<std::string>& closed) const {
  std::set<std::string> jobs;
  for (const std::string& job : JobNames(scaling_.launch.fleet)) {
    const std::vector<std::string> agents = AgentsOf(job);
    const bool all = std::all_of(agents.begin(), agents.end(),
                                 [&](const std::string& agent) { return closed.contains(agent); });
    if (all) jobs.insert(job);
  }
  return jobs;
}

bool FleetScaler::Release(const std::string& job) {
  const server::ReleaseRequested request{AgentsOf(job), scaling_.limits.idle};
  if (!engine_->Request(request).ok()) return false;
  for (const std::string& agent : request.agents) {
    Say(LogLevel::kInfo, "is let go: no trial needs it", agent);
  }
  jobs_.LetGo(job);
  return true;
}

bool FleetScaler::Admit(const std::string& job) {
  absl::Status status;
  for (const std::string& agent : AgentsOf(job)) {
    status.Update(engine_->Request(server::AdmitRequested{agent}));
  }
  const std::string refused(status.message());
  if (!refused.empty() && refused != told_refused_) {
    Say(LogLevel::kInfo, absl::StrCat("no job is submitted yet: ", refused), job);
  }
  told_refused_ = refused;
  return status.ok();
}

void FleetScaler::Tell(const NodesWanted& wanted) {
  if (wanted.nodes != std::exchange(told_nodes_, wanted.nodes)) {
    Say(LogLevel::kInfo, absl::StrCat(wanted.nodes, wanted.nodes == 1 ? " node is" : " nodes are",
                                      " wanted: ", wanted.why));
  }
  if (wanted.too_large == told_too_large_) return;
  told_too_large_ = wanted.too_large;
  for (const std::string& sentence : wanted.too_large) Say(LogLevel::kWarning, sentence);
}

void FleetScaler::Say(LogLevel level, std::string message, const std::string& agent) const {
  if (!agent.empty()) message = absl::StrCat(agent, ": ", message);
  world_.log({.level = level, .message = std::move(message), .about = {.agent = agent}});
}

}  // namespace meshwright::cli

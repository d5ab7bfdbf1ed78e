#include "tools/cli/serve/scaling.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace meshwright::cli {
namespace {

using server::AgentLoad;
using server::EngineDemand;
using server::SweepDemand;

int64_t RoundUp(int64_t devices, int64_t per_node) { return (devices + per_node - 1) / per_node; }

std::string InWords(const SweepDemand& sweep) {
  return absl::StrCat("sweep ", sweep.sweep, " waits with ", sweep.waiting_trials,
                      sweep.waiting_trials == 1 ? " trial" : " trials", " of ", sweep.devices, " ",
                      sweep.device_kind, sweep.devices == 1 ? " device" : " devices");
}

}  // namespace

int64_t Scaling::NodesForLargeTrials(const SweepDemand& sweep, const EngineDemand& demand,
                                     NodesWanted& wanted) const {
  int64_t others = 0;  // devices
  for (const AgentLoad& agent : demand.agents) {
    const bool counts =
        !IsOwn(agent) && agent.takes_trials && agent.device_kind == sweep.device_kind;
    if (!counts) continue;
    // The engine keeps such a trial for the one agent that has enough devices.
    if (agent.devices >= sweep.devices) return 0;
    others += agent.devices;
  }
  const int64_t together = RoundUp(sweep.devices, node_.count);
  if (together <= limits_.max_nodes) {
    return together * std::min(sweep.waiting_trials, limits_.max_nodes / together);
  }
  const int64_t beside = RoundUp(std::max<int64_t>(sweep.devices - others, 0), node_.count);
  if (beside <= limits_.max_nodes) return beside;
  wanted.too_large.push_back(absl::StrCat(
      "sweep ", sweep.sweep, " needs ", sweep.devices, " ", sweep.device_kind, " devices at once: ",
      limits_.max_nodes, limits_.max_nodes == 1 ? " node" : " nodes", " of ", node_.count,
      " devices (--max-nodes) and ", others, " devices of other agents are not enough"));
  return 0;
}

int64_t Scaling::NodesFor(const SweepDemand& sweep, const EngineDemand& demand,
                          std::vector<const AgentLoad*>& others, NodesWanted& wanted) const {
  if (sweep.device_kind != node_.kind) return 0;
  if (node_.count == 0) return 1;
  if (sweep.devices > node_.count) return NodesForLargeTrials(sweep, demand, wanted);
  int64_t trials = sweep.waiting_trials;
  std::erase_if(others, [&](const AgentLoad* agent) {
    const bool takes_one = trials > 0 && agent->device_kind == sweep.device_kind &&
                           agent->devices >= sweep.devices && !sweep.unfit.contains(agent->name);
    trials -= takes_one ? 1 : 0;
    return takes_one;
  });
  return trials;
}

int32_t Scaling::PeakOf(MonotonicTime now, int32_t nodes) {
  while (!peaks_.empty() && peaks_.back().nodes <= nodes) peaks_.pop_back();
  peaks_.push_back({now, nodes});
  while (peaks_.front().when + limits_.idle <= now && peaks_.size() > 1) peaks_.pop_front();
  return peaks_.front().nodes;
}

NodesWanted Scaling::Look(MonotonicTime now, const EngineDemand& demand) {
  int64_t nodes = 0;
  std::vector<const AgentLoad*> idle;
  std::vector<const AgentLoad*> others;
  for (const AgentLoad& agent : demand.agents) {
    if (IsOwn(agent)) node_.count = agent.devices;
    if (!agent.takes_trials) continue;
    if (IsOwn(agent) && agent.busy) ++nodes;
    if (!agent.busy) (IsOwn(agent) ? idle : others).push_back(&agent);
  }
  NodesWanted wanted;
  std::vector<const SweepDemand*> served;
  for (const SweepDemand& sweep : demand.sweeps) {
    const int64_t more = NodesFor(sweep, demand, others, wanted);
    if (more == 0) continue;
    served.push_back(&sweep);
    nodes = std::min<int64_t>(nodes + more, limits_.max_nodes);
  }
  // Idle agents that none of the trials may go to need replacements.
  for (const AgentLoad* agent : idle) {
    const bool is_unfit =
        !served.empty() && std::all_of(served.begin(), served.end(), [&](const SweepDemand* sweep) {
          return sweep->unfit.contains(agent->name);
        });
    nodes += is_unfit ? 1 : 0;
  }
  std::vector<std::string> reasons;
  reasons.reserve(served.size());
  for (const SweepDemand* sweep : served) reasons.push_back(InWords(*sweep));
  wanted.why = reasons.empty() ? "no trial waits for a node" : absl::StrJoin(reasons, "; ");
  const int64_t bounded = std::clamp<int64_t>(nodes, limits_.min_nodes, limits_.max_nodes);
  wanted.nodes = PeakOf(now, static_cast<int32_t>(bounded));
  return wanted;
}

int32_t MissingAgents(MonotonicTime now, const std::vector<FleetJob>& jobs,
                      const EngineDemand& demand, absl::Duration patience) {
  std::set<std::string_view> there;
  for (const AgentLoad& agent : demand.agents) {
    if (!demand.closed.contains(agent.name)) there.insert(agent.name);
  }
  int64_t missing = 0;
  for (const FleetJob& job : jobs) {
    if (job.job.phase != JobPhase::kRunning || now < job.job.running_since + patience) continue;
    const int64_t absent =
        std::count_if(job.agents.begin(), job.agents.end(),
                      [&](const std::string& agent) { return !there.contains(agent); });
    // A job without any agent that takes trials is replaced as a whole.
    if (absent < static_cast<int64_t>(job.agents.size())) missing += absent;
  }
  return static_cast<int32_t>(missing);
}

MayGo WhoMayGo(MonotonicTime now, const std::vector<FleetJob>& jobs, int32_t wanted,
               const EngineDemand& demand, absl::Duration idle) {
  std::map<std::string_view, const AgentLoad*> loads;
  for (const AgentLoad& agent : demand.agents) loads[agent.name] = &agent;
  // Returns since when the agent has been idle; Never() if it is busy.
  const auto idle_since = [&](const FleetJob& of, const std::string& agent) {
    const auto load = loads.find(agent);
    if (load != loads.end()) {
      return load->second->busy ? MonotonicTime::Never() : load->second->idle_since;
    }
    // A job that runs nothing yet is the first to go.
    return of.job.phase == JobPhase::kRunning ? of.job.running_since : MonotonicTime::Always();
  };
  struct Candidate {
    MonotonicTime idle_since;
    const FleetJob* job;
  };
  std::vector<Candidate> candidates;
  MayGo may;
  may.most_spare = -wanted;
  // In reverse order, since the first names are started first.
  for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
    const bool is_closed =
        std::all_of(job->agents.begin(), job->agents.end(),
                    [&](const std::string& agent) { return demand.closed.contains(agent); });
    if (!is_closed) ++may.most_spare;
    if (job->job.phase == JobPhase::kEnding) continue;
    MonotonicTime since = MonotonicTime::Always();
    for (const std::string& agent : job->agents) since = std::max(since, idle_since(*job, agent));
    if (since == MonotonicTime::Never() || now < since + idle) continue;
    if (is_closed) {
      may.closed.push_back(job->job.agent);
    } else {
      candidates.push_back({since, &*job});
    }
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.idle_since < b.idle_since; });
  for (const Candidate& candidate : candidates) may.spare.push_back(candidate.job->job.agent);
  may.most_spare = std::max<int64_t>(may.most_spare, 0);
  return may;
}

}  // namespace meshwright::cli

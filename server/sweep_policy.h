// What happens next: a pure function of the time, the agents and the sweeps, to a list of actions,
// each with the reason that is stored and shown.
//
// Callers may rely on: an agent gets at most one trial; older sweeps come first, and inside a sweep
// the trials in order of their number; the same input gives the same actions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "db/records.h"
#include "executor/host/monotonic_time.h"

namespace meshwright::server {

struct AgentView {
  std::string name;
  std::string device_kind;  // cpu or cuda
  int32_t devices = 0;
  bool idle = false;
};

struct SweepView {
  db::SweepRecord sweep;
  std::vector<db::TrialRecord> trials;  // all of them, by number
  // Of the trials that are held, by their numbers: when their agents must have been heard of.
  std::map<int32_t, host::MonotonicTime> lease_ends = {};
};

struct PolicyState {
  std::vector<AgentView> agents;  // those that are connected
  std::vector<SweepView> sweeps;  // those that have not ended, oldest first
};

struct PolicyOptions {
  int32_t max_lost_attempts = 3;  // then the trial fails
};

enum class ActionType {
  kAssign,   // hand `trial` to `agent`
  kRequeue,  // its agent vanished; back to pending as the next attempt
  kFail,     // its agents vanished too often
  kWait,     // the sweep can't go on now
  kFinish    // every trial has ended
};

struct PolicyAction {
  ActionType type = ActionType::kWait;
  int64_t sweep_id = 0;
  int32_t trial = 0;  // for kAssign, kRequeue and kFail
  std::string agent;  // for kAssign
  std::string reason;

  friend bool operator==(const PolicyAction&, const PolicyAction&) = default;
};

std::vector<PolicyAction> NextActions(host::MonotonicTime now, const PolicyState& state,
                                      const PolicyOptions& options);

// What becomes of a held trial whose agent is gone: kRequeue or kFail. `why` says how it went.
PolicyAction AfterLoss(const db::TrialRecord& trial, const std::string& why,
                       const PolicyOptions& options);

}  // namespace meshwright::server

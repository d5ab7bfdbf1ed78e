// What the engine hears of: one thing at a time, with the time at which it is heard.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/system/monotonic_time.h"
#include "db/records.h"
#include "executor/trial/trial.h"
#include "executor/trial/trial_runner.h"
#include "executor/wire/attempt_key.h"
#include "planner/policy/related_sweeps.h"
#include "server/engine/agent_info.h"
#include "server/engine/choosing.h"

namespace meshwright::server {

// One stream of one agent.
using ConnectionId = int64_t;

// Time has passed.
struct Tick {};

// A sweep that has not ended is in the store: it was just created, or the server begins.
struct SweepStored {
  db::SweepRecord sweep;
  std::vector<db::TrialSummary> trials;  // all candidates
  std::vector<db::AttemptHead> attempts;
  planner::RelatedSweeps relatives = {};  // the same whenever it is read
};

struct CancelRequested {
  std::string sweep;
  std::string actor = {};  // who asks for it; empty where callers are not asked who they are
};

// `held`: attempts that the agent runs or still has results of.
struct AgentConnected {
  AgentInfo info;
  ConnectionId connection = 0;
  std::vector<wire::AttemptKey> held;
};

// Its stream broke.
struct AgentDisconnected {
  std::string agent;
  ConnectionId connection = 0;
};

// The agent leaves on purpose.
struct AgentLeft {
  std::string agent;
  ConnectionId connection = 0;
  std::string reason;
};

// Somebody wants the agent to get nothing new, or to get trials again.
struct DrainRequested {
  std::string agent;
  std::string actor = {};  // as in CancelRequested
};
struct ResumeRequested {
  std::string agent;
  std::string actor = {};
};

// Whoever brought the agent up wants to end it, should it have been idle for so long: from here on
// it gets nothing, until its name is admitted again. Nothing of it is stored, and no standing of
// the agent is changed. FailedPrecondition where it is not idle, has not been for long enough or is
// kept for a trial. One that is not connected is released too.
struct ReleaseRequested {
  std::string agent;
  absl::Duration idle_for;
};
// The next agent of this name gets trials again. FailedPrecondition while one that was released is
// connected.
struct AdmitRequested {
  std::string agent;
};

struct HeartbeatCame {
  std::string agent;
  std::vector<wire::AttemptKey> held;
};

struct TrialStarted {
  std::string agent;
  wire::AttemptKey key;
};

// The agent can begin with its ranks of an attempt that several hold. Where it leads it meets the
// others on this port.
struct MemberReady {
  std::string agent;
  wire::AttemptKey key;
  int32_t port = 0;
};

struct TrialProgressed {
  std::string agent;
  wire::AttemptKey key;
  trial::TrialProgress progress;
};

// What is stored of a result, worked out before the engine looks at it.
struct DigestedResult {
  trial::TrialResult delivered;
  trial::TrialResult result;                // as it is stored
  db::MeasuredTrial measured;               // its columns
  absl::Status problem = absl::OkStatus();  // why what was delivered can't be right
};

struct TrialFinished {
  std::string agent;
  wire::AttemptKey key;
  std::shared_ptr<const DigestedResult> digested;
};

// A result of a sweep that is not active: who delivered it has its hands free.
struct ResultCameLate {
  std::string agent;
  wire::AttemptKey key;
};

// The store takes no changes now; what was decided so far waits for it. And it takes them again.
struct StoreFailed {};
struct StoreBack {};

using EngineEvent =
    std::variant<Tick, SweepStored, CancelRequested, AgentConnected, AgentDisconnected, AgentLeft,
                 DrainRequested, ResumeRequested, ReleaseRequested, AdmitRequested, HeartbeatCame,
                 TrialStarted, MemberReady, TrialProgressed, TrialFinished, ResultCameLate,
                 ChoiceMade, StoreFailed, StoreBack>;

struct EngineInput {
  absl::Time wall;          // that records show to people
  MonotonicTime monotonic;  // that leases go by
  EngineEvent event;
};

}  // namespace meshwright::server

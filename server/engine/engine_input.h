// EngineInput is one event that the engine handles, with the time at which it came.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
#include "executor/wire/runner_offer.h"
#include "planner/policy/related_sweeps.h"
#include "server/engine/choosing.h"

namespace meshwright::server {

// The facts that an agent reports about itself when it connects.
struct AgentInfo {
  std::string name;
  std::string instance;       // tells this process from other agents of the same name
  std::string identity = {};  // stays the same when the agent restarts; may be empty
  std::string host;
  std::string device_kind;  // cpu or cuda
  int32_t devices = 0;
  int32_t slots = 1;         // equal parts of its devices that run trials side by side
  int64_t memory_bytes = 0;  // per device; 0 if it is not limited
  std::string version;
  std::string address = {};       // at which other agents reach it; empty if they can't
  std::string cluster_json = {};  // its devices as it measured them; empty if not measured
  std::vector<wire::RunnerOffer> runners = {};
  absl::Time connect_time;
};

// Identifies one stream of one agent.
using ConnectionId = int64_t;

// Time has passed.
struct Tick {};

// A sweep that has not ended is in the store: it was just created, or the server is starting.
struct SweepStored {
  db::SweepRecord sweep;
  std::vector<db::TrialSummary> trials;  // all candidates
  std::vector<db::AttemptSummary> attempts;
  planner::RelatedSweeps related_sweeps = {};  // the same at every read
};

struct CancelRequested {
  std::string sweep;
  std::string actor = {};  // who asks for it; empty if callers need not authenticate
};

// The agent opened a stream. `held` names the attempts that it runs or whose results it still has.
struct AgentConnected {
  AgentInfo info;
  ConnectionId connection = 0;
  std::vector<wire::AttemptKey> held;
};

// The agent's stream broke.
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

// Somebody wants the agent to get no new trials.
struct DrainRequested {
  std::string agent;
  std::string actor = {};  // as in CancelRequested
};
// Somebody wants the agent to get trials again.
struct ResumeRequested {
  std::string agent;
  std::string actor = {};  // as in CancelRequested
};

// The launcher that started the agents as one job wants to end them, if each has been idle for
// `idle_for`. They then get no trials until their names are admitted again (AdmitRequested).
// EngineOutput::status is FailedPrecondition, and no agent is released, if one of them is busy, has
// not been idle for long enough, or is kept for a trial. An agent that is not connected is released
// too. A release is not stored, and does not change an agent's quarantine.
struct ReleaseRequested {
  std::vector<std::string> agents;
  absl::Duration idle_for;
};
// The next agent of this name gets trials again. EngineOutput::status is FailedPrecondition while a
// released agent of this name is connected.
struct AdmitRequested {
  std::string agent;
};

// The launcher says what its nodes in a batch queue wait for. Sweeps that wait for devices of this
// kind repeat it.
struct NodesQueued {
  std::string device_kind;
  std::string text;  // empty if no node waits

  friend bool operator==(const NodesQueued&, const NodesQueued&) = default;
};

struct HeartbeatCame {
  std::string agent;
  std::vector<wire::AttemptKey> held;
};

struct TrialStarted {
  std::string agent;
  wire::AttemptKey key;
};

// The agent is ready to begin with its ranks of an attempt that several agents hold. If it leads
// the attempt, it meets the others on `port`.
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

// A delivered result and the form in which it is stored, which is computed before the engine
// handles it.
struct DigestedResult {
  trial::TrialResult delivered;
  trial::TrialResult result;   // as it is stored
  db::MeasuredTrial measured;  // `result` as columns of the store
  // Says why the delivered result is invalid; OK if the result is valid.
  absl::Status problem = absl::OkStatus();
};

struct TrialFinished {
  std::string agent;  // empty if a caller reports the result
  wire::AttemptKey key;
  std::shared_ptr<const DigestedResult> digested;
  // The caller who reports the result, as in CancelRequested; nullopt if an agent delivers it.
  std::optional<std::string> told_by = std::nullopt;
};

// A caller asks for a trial of a sweep whose trials callers run, with a lease of this duration.
// EngineOutput::handed_out is the trial.
struct TrialAsked {
  std::string sweep;
  std::string actor = {};  // as in CancelRequested
  absl::Duration lease;
};
// A caller who asked for a trial renews its lease, which then ends `lease` from now.
// EngineOutput::handed_out is the trial.
struct LeaseRenewed {
  wire::AttemptKey key;
  absl::Duration lease;
};
// A caller who asked for a trial gives it back without a result. The trial is then handed out
// again.
struct TrialGivenBack {
  wire::AttemptKey key;
  std::string actor = {};  // as in CancelRequested
};

// A result came for a sweep that is not active. The agent that delivered it no longer holds the
// attempt.
struct ResultCameLate {
  std::string agent;
  wire::AttemptKey key;
};

// The store can't be written, and decisions wait for it.
struct StoreFailed {};
// The store can be written again.
struct StoreBack {};

using EngineEvent =
    std::variant<Tick, SweepStored, CancelRequested, AgentConnected, AgentDisconnected, AgentLeft,
                 DrainRequested, ResumeRequested, ReleaseRequested, AdmitRequested, NodesQueued,
                 HeartbeatCame, TrialStarted, MemberReady, TrialProgressed, TrialFinished,
                 ResultCameLate, TrialAsked, LeaseRenewed, TrialGivenBack, ChoiceMade, StoreFailed,
                 StoreBack>;

struct EngineInput {
  absl::Time wall;          // the time that records show to people
  MonotonicTime monotonic;  // the time by which leases are measured
  EngineEvent event;
};

}  // namespace meshwright::server

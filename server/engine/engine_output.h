// EngineOutput is what the engine derives from an input: changes to store, messages to send once
// the changes are stored, the answer to the input, and questions whose answers take too long to be
// worked out by the engine itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "base/system/log.h"
#include "db/sweep_store.h"
#include "executor/wire/attempt_key.h"
#include "server/engine/choosing.h"
#include "server/engine/engine_input.h"
#include "server/engine/result_verdict.h"

namespace meshwright::server {

struct SweepCancellation {
  int64_t sweep_id = 0;
  std::string reason;
  std::string actor;
  absl::Time time;
};

using StoreOp = std::variant<db::TrialTransition, db::SweepTransition, SweepCancellation,
                             db::LeaseRenewal, db::AgentQuarantine, db::EventRecord>;

// Makes the change. Returns Aborted if the store differs from what the engine believed.
absl::Status Apply(const StoreOp& op, db::SweepAccess& store);

// Tells the agent that it is registered. Precedes everything else on its stream.
struct WelcomeOrder {};
struct AssignOrder {
  wire::AttemptKey key;
  int64_t sweep_id = 0;
  std::optional<double> beat_step_s;  // the shortest step of the sweep so far
  std::string reason;
  // The agents of the attempt with the ranks that each of them gets. A single agent begins
  // immediately; several begin on a StartOrder, which they get once all are ready.
  std::vector<db::AttemptMember> members = {};
  size_t member = 0;  // index in `members` of the agent that this order is for
};
// Tells the agent that all members are ready and that they meet at `rendezvous`.
struct StartOrder {
  wire::AttemptKey key;
  std::string rendezvous;
};
struct CancelOrder {
  wire::AttemptKey key;
  std::string reason;
};
// Ends the stream with this status.
struct CloseOrder {
  absl::Status status;
};

struct Send {
  ConnectionId connection = 0;
  std::variant<WelcomeOrder, AssignOrder, StartOrder, CancelOrder, CloseOrder> order;
};

// A trial that a caller asked for.
struct HandedOut {
  wire::AttemptKey key;
  int64_t sweep_id = 0;
  absl::Time lease_end;
};

struct EngineOutput {
  std::vector<StoreOp> ops;  // to be stored in this order
  std::vector<Send> sends;   // to be sent in this order, once the ops are stored
  // Sent immediately, since they depend on nothing that has to be stored.
  std::vector<Send> sends_at_once;
  std::vector<LogEntry> log;
  // Each has to be answered with one ChoiceMade.
  std::vector<ChoiceQuestion> questions;
  // The progress of a running trial, which is not stored.
  std::optional<db::EventRecord> progress;

  // The answer to the input itself. It holds once the ops are stored.
  absl::Status status;
  std::optional<FinishVerdict> verdict;  // holds once the ops are stored; kRetry holds immediately
  // If true, the delivered result belongs to a sweep that is not active. The caller then has to
  // decide from the store whether the result counts.
  bool result_is_late = false;
  std::optional<HandedOut> handed_out;  // holds once the ops are stored
  // If true, the trial that was asked for is still being chosen. The caller then has to ask again
  // once the questions so far are answered.
  bool is_choosing = false;
};

}  // namespace meshwright::server

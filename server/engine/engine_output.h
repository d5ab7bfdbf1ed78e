// What the engine makes of an input: changes to store, messages to send once they are stored,
// questions that take longer to answer, and what it answers itself.
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
                             db::AgentQuarantine, db::EventRecord>;

// Makes the change. Aborted where the store holds something else than the engine believed.
absl::Status Apply(const StoreOp& op, db::SweepAccess& store);

// The agent is registered; comes before everything else on its stream.
struct WelcomeOrder {};
struct AssignOrder {
  wire::AttemptKey key;
  int64_t sweep_id = 0;
  std::optional<double> beat_step_s;  // the shortest step of the sweep so far
  std::string reason;
  // Who gets which of its ranks, and which of them is told. One alone begins at once; several once
  // they are told to, which they are when all are ready.
  std::vector<db::AttemptMember> members = {};
  size_t member = 0;
};
// All members are ready: they meet at `rendezvous`.
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

struct EngineOutput {
  std::vector<StoreOp> ops;         // in this order
  std::vector<Send> sends;          // once the ops are stored, in this order
  std::vector<Send> sends_at_once;  // say nothing that a store has to hold
  std::vector<LogEntry> log;
  // To be answered with a ChoiceMade, once each.
  std::vector<ChoiceQuestion> questions;
  // Of an agent that runs, which nobody stores.
  std::optional<db::EventRecord> progress;

  // Answers to the input itself. `status` holds once the ops are stored.
  absl::Status status;
  std::optional<FinishVerdict> verdict;  // likewise, but for kRetry
  // The result is of a sweep that is not active: the store knows what to make of it.
  bool result_is_late = false;
};

}  // namespace meshwright::server

// EngineOutput is what the engine derives from an input: changes to store, messages to send once
// they are stored, questions that take longer to answer, and its answer to the input.
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

// Makes the change. Aborted where the store differs from what the engine believed.
absl::Status Apply(const StoreOp& op, db::SweepAccess& store);

// The agent is registered; precedes everything else on its stream.
struct WelcomeOrder {};
struct AssignOrder {
  wire::AttemptKey key;
  int64_t sweep_id = 0;
  std::optional<double> beat_step_s;  // the shortest step of the sweep so far, seconds
  std::string reason;
  // Which agent gets which ranks, and which of them this order is for. A single agent begins at
  // once; several begin when told to, after all are ready.
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
  std::vector<StoreOp> ops;  // in this order
  std::vector<Send> sends;   // once the ops are stored, in this order
  // Sent at once, since they depend on nothing that has to be stored.
  std::vector<Send> sends_at_once;
  std::vector<LogEntry> log;
  // To be answered with one ChoiceMade each.
  std::vector<ChoiceQuestion> questions;
  // The progress of a running trial, which is not stored.
  std::optional<db::EventRecord> progress;

  // The answer to the input itself. `status` holds once the ops are stored.
  absl::Status status;
  std::optional<FinishVerdict> verdict;  // holds once the ops are stored, except kRetry
  // The result is of a sweep that is not active: the store decides what to do with it.
  bool result_is_late = false;
};

}  // namespace meshwright::server

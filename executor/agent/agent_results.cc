// The part of Agent that keeps and delivers results, and leaves.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "executor/agent/agent.h"
#include "executor/wire/wire.h"

namespace meshwright::agent {
namespace {

constexpr absl::Duration kResultPoll = absl::Milliseconds(50);
constexpr absl::Duration kRedelivery = absl::Seconds(5);
constexpr absl::Duration kRewrite = absl::Seconds(5);
// Shares of the 5 s within which a stopped service should end: for running trials, for delivery,
// and the rest for the goodbye.
constexpr absl::Duration kStopWait = absl::Seconds(2);
constexpr absl::Duration kDeliverWait = absl::Milliseconds(2500);
constexpr absl::Duration kLeaveWait = absl::Seconds(3);

}  // namespace

void Agent::OnAck(const v1::ResultAck& ack) {
  const absl::StatusOr<wire::AttemptKey> key = wire::FromWire(ack.ref());
  if (!key.ok()) return;
  if (ack.accepted() && ack.keep_s() > 0.0) {
    results_->Acknowledge(store_id_, *key, epoch_, options_.clock() + absl::Seconds(ack.keep_s()));
  } else {
    results_->Remove(store_id_, *key);
  }
  if (!ack.accepted()) {
    LogFields about = wire::AboutAttempt(*key);
    about.code = absl::StatusCodeToString(static_cast<absl::StatusCode>(ack.code()));
    Log(LogLevel::kWarning, absl::StrCat("the server refused the result: ", ack.reason()),
        std::move(about));
    return;
  }
  Log(LogLevel::kDebug, "the server has the result", wire::AboutAttempt(*key));
}

void Agent::KeepResult(const Running& ran, trial::TrialResult result) {
  // Only the connected server waits to hear that a trial was cancelled, and a goodbye covers all of
  // them.
  const bool is_awaited = ran.store_id == store_id_ && !leaving_;
  if (result.outcome == trial::TrialOutcome::kCancelled && !is_awaited) {
    results_->Remove(ran.store_id, ran.key);  // what was written ahead
    return;
  }
  if (result.host.empty()) result.host = options_.host;
  const KeptResult kept{ran.store_id, ran.key, ran.token, std::move(result)};
  if (absl::Status status = results_->Add(kept); !status.ok()) {
    Log(LogLevel::kWarning, absl::StrCat("keeps the result in memory only: ", status.message()),
        wire::AboutAttempt(ran.key));
  }
  if (kept.store_id == store_id_) Deliver(kept);
}

void Agent::WriteAhead(const Running& runs, trial::TrialResult result) {
  if (result.host.empty()) result.host = options_.host;
  // If this fails, KeepResult() fails too, and says so.
  results_->WriteAhead({runs.store_id, runs.key, runs.token, std::move(result)}).IgnoreError();
}

void Agent::WriteResults(MonotonicTime now) {
  next_write_ = now + kRewrite;
  if (!results_->WriteUnwritten().ok()) return;
  Log(LogLevel::kInfo, "the results that were kept in memory only are on the disk now");
}

void Agent::Deliver(const KeptResult& kept) {
  v1::AgentMessage message;
  *message.mutable_finished()->mutable_ref() = wire::ToWire(kept.key);
  message.mutable_finished()->set_token(kept.token);
  *message.mutable_finished()->mutable_measurement() = wire::ToWire(kept.result);
  Send(message);
  next_delivery_ = options_.clock() + kRedelivery;
}

void Agent::DeliverAll() {
  next_delivery_ = MonotonicTime::Never();
  for (const KeptResult& kept : results_->kept()) {
    if (kept.store_id == store_id_) Deliver(kept);
  }
}

bool Agent::HasResults() const {
  return std::any_of(results_->kept().begin(), results_->kept().end(),
                     [&](const KeptResult& kept) { return kept.store_id == store_id_; });
}

void Agent::Leave() {
  leaving_ = true;
  const MonotonicTime begin = options_.clock();
  const std::vector<Running> all = running_;
  for (const Running& running : all)
    EndAttempt(running.key, running.store_id, "the agent was stopped");
  while (!running_.empty() && options_.clock() < begin + kStopWait) HandleNext(kResultPoll);
  // Gives all results, including those just measured, a chance to arrive.
  while (registered_ && HasResults() && options_.clock() < begin + kDeliverWait)
    HandleNext(kResultPoll);
  trials_.reset();
  const MonotonicTime deadline = begin + kLeaveWait;
  if (!registered_) return;
  v1::AgentMessage message;
  message.mutable_goodbye()->set_reason("it was stopped");
  Send(message);
  stream_->CloseSending();
  while (stream_ != nullptr && options_.clock() < deadline) {
    if (const std::optional<Event> event = inbox_.Pop(kResultPoll)) {
      if (const auto* ended = std::get_if<StreamEnded>(&*event); ended != nullptr) break;
    }
  }
}

}  // namespace meshwright::agent

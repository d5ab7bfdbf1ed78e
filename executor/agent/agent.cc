#include "executor/agent/agent.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "base/text/utf8.h"
#include "executor/wire/message_codec.h"
#include "executor/wire/protocol.h"
#include "executor/wire/wire.h"
#include "nlohmann/json.hpp"

namespace meshwright::agent {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(50);  // how soon a stop is noticed
constexpr absl::Duration kProgressEvery = absl::Milliseconds(200);
// How long acknowledged results of an earlier process are kept for a standby.
constexpr absl::Duration kMostKept = absl::Minutes(10);
// The part of a lease reserved for ending workers, so that they are gone before the server
// reassigns their trial.
constexpr int64_t kShareToEnd = 10;
constexpr absl::Duration kMostToEnd = absl::Seconds(1);

absl::Duration UsableOf(absl::Duration lease) {
  return lease - std::min(lease / kShareToEnd, kMostToEnd);
}

// Returns how a trial ended, for a log line.
std::string EndOf(const trial::TrialResult& result) {
  const std::string_view outcome = trial::TrialOutcomeName(result.outcome);
  std::string text = absl::StrCat("ended: ", AbslView(outcome));
  if (result.outcome == trial::TrialOutcome::kOk) {
    absl::StrAppendFormat(&text, ", %.4g s per step", result.step_s);
  } else if (!result.message.empty()) {
    absl::StrAppend(&text, ", ", result.message.substr(0, result.message.find('\n')));
  }
  return text;
}

// Checks that the server's protocol and answer are usable.
absl::Status CheckRegistered(const v1::Registered& registered, const std::string& address) {
  RETURN_IF_ERROR(wire::CheckServerProtocol(registered.protocol(), address));
  if (!IsStoreId(registered.store_id())) {
    return FieldError("store_id", registered.store_id(),
                      "must be hexadecimal, as those of Meshwright's servers are");
  }
  RETURN_IF_ERROR(CheckPositive("lease_s", registered.lease_s()));
  return CheckPositive("heartbeat_s", registered.heartbeat_s());
}

}  // namespace

Agent::Agent(AgentOptions options) : options_(std::move(options)), epochs_(options_.epochs_file) {}

Agent::~Agent() {
  // Their threads push into the inbox, so they end before it.
  stream_.reset();
  trials_.reset();
}

void Agent::Log(LogLevel level, std::string message, LogFields about) const {
  about.agent = options_.name;
  options_.log({.level = level, .message = std::move(message), .about = std::move(about)});
}

absl::Status Agent::Run(const std::function<bool()>& stop) {
  ASSIGN_OR_RETURN(results_, ResultBox::Open(options_.result_folder));
  results_->ForgetAfter(options_.clock() + kMostKept);
  trials_ = std::make_unique<TrialThreads>(
      options_.runners, options_.worker_path, options_.devices.slots,
      TrialThreads::Callbacks{
          .progress =
              [this](const wire::AttemptKey& key, const trial::TrialProgress& p) {
                inbox_.Push(Stepped{key, p});
              },
          .done =
              [this](const wire::AttemptKey& key, const trial::TrialResult& r) {
                inbox_.Push(Ended{key, r});
              },
          .measured =
              [this](const wire::AttemptKey& key, const trial::TrialResult& r) {
                inbox_.Push(Measured{key, r});
              },
          .warn =
              [this](const wire::AttemptKey& key, const std::string& text) {
                Log(LogLevel::kWarning, text, wire::AboutAttempt(key));
              }});
  while (!stop() && fatal_.ok()) {
    DoDue();
    HandleNext(kPoll);
  }
  if (fatal_.ok()) Leave();
  stream_.reset();
  trials_.reset();
  return fatal_;
}

void Agent::Dial() {
  const int64_t session = ++session_;
  last_heartbeat_ = 0;
  sent_heartbeats_ = {{0, options_.clock()}};
  stream_ = std::make_unique<ServerStream>(
      server(),
      [this, session](v1::ServerMessage m) {
        inbox_.Push(Received{session, std::move(m)});
      },
      [this, session] { inbox_.Push(StreamEnded{session}); });
  v1::AgentMessage message;
  v1::Register* out = message.mutable_register_();
  out->set_name(ValidUtf8(options_.name));
  out->set_instance(options_.instance);
  out->set_identity(options_.identity);
  out->set_host(ValidUtf8(options_.host));
  out->mutable_device_set()->set_device_kind(
      wire::EnumOf<v1::DeviceKind>(planner::DeviceKindName(options_.devices.kind)));
  out->mutable_device_set()->set_devices(options_.devices.count);
  out->set_slots(options_.devices.slots);
  out->mutable_device_set()->set_memory_bytes(options_.memory_limit_bytes.value_or(0));
  out->set_version(options_.version);
  out->set_protocol(wire::kAgentProtocol);
  out->set_address(options_.address);
  out->set_cluster_json(options_.cluster_json);
  out->add_capabilities("trial");
  for (const wire::RunnerOffer& offer : options_.offers) {
    *out->add_runners() = wire::ToWire(offer);
  }
  AddHeld(*out);
  stream_->Send(message);
}

void Agent::DoDue() {
  const MonotonicTime now = options_.clock();
  // Also applies while a dialled server does not answer or a connected one is silent.
  if (now >= lease_ends_ && !running_.empty()) {
    const std::vector<Running> all = running_;
    for (const Running& running : all) {
      Log(LogLevel::kWarning,
          absl::StrCat("the server acknowledged no heartbeat for ", absl::FormatDuration(lease_),
                       ", and the trial's lease is about to end: ending the trial"),
          wire::AboutAttempt(running.key));
      EndAttempt(running.key, running.store_id, "the trial's lease has ended");
    }
    lease_ends_ = MonotonicTime::Never();
  }
  if (results_->has_unwritten() && now >= next_write_) WriteResults(now);
  results_->Forget(now);
  if (stream_ == nullptr) {
    if (now >= next_dial_) Dial();
    return;
  }
  if (!registered_) return;
  if (now >= next_heartbeat_) SendHeartbeat(now);
  if (now >= next_delivery_) DeliverAll();
}

void Agent::SendHeartbeat(MonotonicTime now) {
  next_heartbeat_ = now + heartbeat_;
  v1::AgentMessage message;
  message.mutable_heartbeat()->set_number(++last_heartbeat_);
  for (const wire::AttemptKey& key : Held())
    *message.mutable_heartbeat()->add_held() = wire::ToWire(key);
  sent_heartbeats_[last_heartbeat_] = now;
  Send(message);
}

void Agent::OnHeartbeatAck(const v1::HeartbeatAck& ack) {
  const auto sent = sent_heartbeats_.find(ack.number());
  if (sent == sent_heartbeats_.end()) return;
  lease_ends_ = sent->second + lease_;
  sent_heartbeats_.erase(sent_heartbeats_.begin(), std::next(sent));
}

bool Agent::HandleNext(absl::Duration timeout) {
  const std::optional<Event> event = inbox_.Pop(timeout);
  if (!event) return false;
  std::visit([this](const auto& what) { On(what); }, *event);
  return true;
}

void Agent::On(const Received& event) {
  if (event.session != session_) return;
  const v1::ServerMessage& message = event.message;
  if (message.has_registered()) {
    OnRegistered(message.registered());
  } else if (message.has_assignment()) {
    OnAssignment(message.assignment());
  } else if (message.has_cancel()) {
    if (const absl::StatusOr<wire::AttemptKey> key = wire::FromWire(message.cancel().ref());
        key.ok()) {
      EndAttempt(*key, store_id_, message.cancel().reason());
    }
  } else if (message.has_start()) {
    OnStart(message.start());
  } else if (message.has_ack()) {
    OnAck(message.ack());
  } else if (message.has_heartbeat_ack()) {
    OnHeartbeatAck(message.heartbeat_ack());
  }
}

void Agent::OnRegistered(const v1::Registered& registered) {
  if (absl::Status status = CheckRegistered(registered, server().address); !status.ok()) {
    fatal_ = std::move(status);
    return;
  }
  if (const absl::Status status = CheckEpoch(registered); !status.ok()) {
    LeaveOldServer(status);
    return;
  }
  registered_ = true;
  failures_ = 0;
  said_unreachable_ = false;
  store_id_ = registered.store_id();
  epoch_ = registered.epoch();
  results_->KeepAgain(store_id_, epoch_);
  lease_ = UsableOf(absl::Seconds(registered.lease_s()));
  lease_ends_ = sent_heartbeats_.at(0) + lease_;
  heartbeat_ = absl::Seconds(registered.heartbeat_s());
  next_heartbeat_ = options_.clock() + heartbeat_;
  Log(LogLevel::kInfo, absl::StrCat("connected to ", server().address, " as ", options_.name,
                                    " with ", options_.devices.count, " devices"));
  const std::vector<Running> all = running_;
  for (const Running& running : all) {
    if (running.store_id != store_id_) {
      Log(LogLevel::kInfo,
          "ends the trial: the server has another store than the server that gave out the trial",
          wire::AboutAttempt(running.key));
      EndAttempt(running.key, running.store_id, "the server has another store");
    } else if (running.ready) {
      v1::AgentMessage message;
      *message.mutable_ready() = *running.ready;
      Send(message);
    }
  }
  DeliverAll();
}

void Agent::On(const StreamEnded& event) {
  if (event.session != session_ || stream_ == nullptr) return;
  const absl::Status status = stream_->Finish();
  stream_.reset();
  if (absl::IsInvalidArgument(status) || absl::IsUnimplemented(status) ||
      absl::IsAlreadyExists(status) || absl::IsUnauthenticated(status) ||
      absl::IsPermissionDenied(status)) {
    fatal_ = status;
    return;
  }
  if (!said_unreachable_) {
    said_unreachable_ = true;
    const bool waits = !registered_ && absl::IsAborted(status);
    Log(LogLevel::kWarning,
        absl::StrCat(registered_ ? "lost the server "
                     : waits     ? "can't register yet at the server "
                                 : "can't reach the server ",
                     server().address, " (", status.message(), "); keeps trying"),
        {.code = absl::StatusCodeToString(status.code())});
  }
  PlanDial(std::exchange(registered_, false));
}

void Agent::On(const Stepped& event) {
  const MonotonicTime now = options_.clock();
  const bool last = event.progress.step >= event.progress.steps;
  Running* const running = FindRunning(event.key);
  if (running == nullptr || (!last && now < running->told_progress + kProgressEvery)) return;
  running->told_progress = now;
  v1::AgentMessage message;
  v1::TrialProgress* out = message.mutable_progress();
  *out->mutable_ref() = wire::ToWire(event.key);
  out->set_step(event.progress.step);
  out->set_total_steps(event.progress.steps);
  out->set_step_s(event.progress.step_s);
  out->set_loss(event.progress.loss.value_or(0.0));
  Send(message);
}

void Agent::On(const Measured& event) {
  const Running* const running = FindRunning(event.key);
  if (running != nullptr) WriteAhead(*running, event.result);
}

void Agent::On(const Ended& event) {
  // If attempts of two stores share a name, the older one ends first.
  const Running* const running = FindRunning(event.key);
  if (running == nullptr) return;
  const Running ran = *running;
  running_.erase(running_.begin() + (running - running_.data()));
  Log(LogLevel::kInfo, EndOf(event.result), wire::AboutAttempt(ran.key));
  KeepResult(ran, event.result);
}

void Agent::Send(const v1::AgentMessage& message) {
  // What can't be sent now is sent after the next connection.
  if (stream_ != nullptr && registered_) stream_->Send(message);
}

std::vector<wire::AttemptKey> Agent::Held() const {
  std::vector<wire::AttemptKey> held;
  for (const Running& running : running_) {
    if (running.store_id == store_id_) held.push_back(running.key);
  }
  for (const KeptResult& kept : results_->kept()) {
    if (kept.store_id == store_id_) held.push_back(kept.key);
  }
  return held;
}

}  // namespace meshwright::agent

#include "server/services/agent_stream.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/trial/result_check.h"
#include "executor/wire/field_limits.h"
#include "executor/wire/message_codec.h"
#include "executor/wire/protocol.h"
#include "executor/wire/wire.h"
#include "planner/catalog/catalog.h"
#include "proto/meshwright/v1/resource_names.h"
#include "server/calls/call_status.h"
#include "server/sweeps/sweep_messages.h"

namespace meshwright::server {
namespace {

constexpr size_t kMaxIdentity = 64;
constexpr int64_t kMaxDevices = 1024;
constexpr int64_t kMostPort = 65535;
// Each one costs the store two reads while all other calls wait.
constexpr int64_t kMaxHeld = 2000;
constexpr size_t kMaxClusterBytes = 64 << 10;
// Agents tell of at most this many stores.
constexpr int64_t kMaxEpochs = 64;
// Far longer than a standby that follows is behind.
constexpr absl::Duration kKeepAcknowledged = absl::Minutes(10);
// Most messages that wait for the agent to read them: more than the answers to everything that it
// may hold.
constexpr size_t kMostUnread = 10'000;

// Accepts a host name or a numeric address; empty for an agent that no other reaches.
absl::Status CheckAddress(const std::string& address) {
  const bool can_be_one = std::all_of(address.begin(), address.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == ':' || c == '-' || c == '%' || c == '_';
  });
  if (can_be_one) return absl::OkStatus();
  return FieldError("register.address", address, "must be a host's name or a numeric address");
}

// Appends the attempt, unless its name can't be read: this server gave out no such attempt.
void AddReadable(const v1::AttemptRef& ref, std::vector<wire::AttemptKey>& keys) {
  if (absl::StatusOr<wire::AttemptKey> key = wire::FromWire(ref); key.ok())
    keys.push_back(*std::move(key));
}

std::vector<wire::AttemptKey> ReadHeld(
    const google::protobuf::RepeatedPtrField<v1::AttemptRef>& held) {
  std::vector<wire::AttemptKey> keys;
  for (const v1::AttemptRef& ref : held) AddReadable(ref, keys);
  return keys;
}

// A result that can't be read fails its trial, since another attempt would bring the same.
trial::TrialResult CantBeTaken(const absl::Status& problem) {
  trial::TrialResult failed;
  failed.outcome = trial::TrialOutcome::kFailed;
  failed.fault = trial::Fault::kLayout;
  failed.message = absl::StrCat("what the agent measured can't be read: ", problem.message());
  return failed;
}

trial::TrialResult ReadResult(const v1::Measurement& measurement) {
  absl::StatusOr<trial::TrialResult> result = wire::FromWire(measurement);
  if (result.ok()) return *std::move(result);
  trial::TrialResult failed = CantBeTaken(result.status());
  failed.worker_version = measurement.worker_version();
  failed.host = measurement.host();
  return failed;
}

// Returns why an agent's cluster can't be planned with; OK for an agent that did not measure one.
absl::Status CheckCluster(const std::string& json) {
  if (json.empty()) return absl::OkStatus();
  if (json.size() > kMaxClusterBytes) return absl::InvalidArgumentError("it is above 64 KiB");
  return planner::ClusterFromJson(json, /*host_cores=*/1).status();
}

}  // namespace

// Queues messages for a stream. It outlives the stream where the engine still holds a pointer;
// messages are then dropped.
class AgentStream::Link final : public AgentLink {
 public:
  Link(AgentStream* stream, const AgentParts& parts)
      : parts_(parts), options_(parts.engine->options()), stream_(stream) {}

  void Welcome() override {
    v1::ServerMessage message;
    v1::Registered* registered = message.mutable_registered();
    registered->set_protocol(wire::kAgentProtocol);
    registered->set_store_id(parts_.authority->own().id);
    registered->set_epoch(parts_.authority->own().epoch);
    registered->set_lease_s(absl::ToDoubleSeconds(options_.lease));
    registered->set_heartbeat_s(absl::ToDoubleSeconds(options_.heartbeat));
    Queue(std::move(message));
  }

  void Assign(const AssignedAttempt& attempt) override {
    v1::ServerMessage message;
    v1::Assignment* assignment = message.mutable_assignment();
    *assignment->mutable_ref() = wire::ToWire(attempt.key);
    assignment->set_token(attempt.token);
    assignment->set_plan_json(attempt.plan_json);
    assignment->set_reason(attempt.reason);
    assignment->set_first_device(attempt.members[attempt.member].first_device);
    if (attempt.members.size() > 1) {
      v1::Gang* gang = assignment->mutable_gang();
      for (const db::AttemptMember& member : attempt.members) {
        *gang->add_members() = ToWire(member);
      }
      gang->set_member(static_cast<int32_t>(attempt.member));
      gang->set_secret(attempt.gang_secret);
    }
    Queue(std::move(message));
  }

  void Start(const wire::AttemptKey& key, const std::string& rendezvous) override {
    v1::ServerMessage message;
    *message.mutable_start()->mutable_ref() = wire::ToWire(key);
    message.mutable_start()->set_rendezvous(rendezvous);
    Queue(std::move(message));
  }

  void Cancel(const wire::AttemptKey& key, const std::string& reason) override {
    v1::ServerMessage message;
    *message.mutable_cancel()->mutable_ref() = wire::ToWire(key);
    message.mutable_cancel()->set_reason(reason);
    Queue(std::move(message));
  }

  void Acknowledge(const v1::AttemptRef& ref, const FinishVerdict& verdict) {
    v1::ServerMessage message;
    *message.mutable_ack()->mutable_ref() = ref;
    message.mutable_ack()->set_accepted(verdict.kind == FinishVerdict::Outcome::kStored);
    message.mutable_ack()->set_reason(verdict.reason);
    message.mutable_ack()->set_code(static_cast<int32_t>(verdict.code));
    if (message.ack().accepted() && parts_.changes->HasStandbys()) {
      message.mutable_ack()->set_keep_s(absl::ToDoubleSeconds(kKeepAcknowledged));
    }
    Send(std::move(message));
  }

  void AcknowledgeHeartbeat(int64_t number) {
    v1::ServerMessage message;
    message.mutable_heartbeat_ack()->set_number(number);
    Send(std::move(message));
  }

  void Flush() override {
    absl::MutexLock lock(&mutex_);
    Pump();
  }

  void Close(const absl::Status& status) override {
    absl::MutexLock lock(&mutex_);
    if (!closing_) closing_ = status;
    Pump();
  }

  void WriteDone(bool ok) {
    absl::MutexLock lock(&mutex_);
    writing_ = false;
    if (!ok) queue_.clear();
    Pump();
  }

  bool closing() {
    absl::MutexLock lock(&mutex_);
    return closing_.has_value();
  }

  // Not OK once too many messages wait for the agent to read them.
  absl::Status reads() {
    absl::MutexLock lock(&mutex_);
    return reads_;
  }

  void Detach() {
    absl::MutexLock lock(&mutex_);
    stream_ = nullptr;
  }

 private:
  void Send(v1::ServerMessage message) {
    Queue(std::move(message));
    Flush();
  }

  void Queue(v1::ServerMessage message) {
    absl::MutexLock lock(&mutex_);
    if (closing_) return;
    if (queue_.size() < kMostUnread) {
      queue_.push_back(std::move(message));
    } else {
      reads_ = absl::ResourceExhaustedError("the agent does not read what it is sent");
      closing_ = reads_;
      queue_.clear();
    }
  }

  void Pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (stream_ == nullptr || writing_ || finished_) return;
    if (!queue_.empty()) {
      sending_ = std::move(queue_.front());
      queue_.pop_front();
      writing_ = true;
      // A message with another one behind it is sent together with that one.
      grpc::WriteOptions options;
      if (!queue_.empty()) options.set_buffer_hint();
      stream_->StartWrite(&sending_, options);
    } else if (closing_) {
      finished_ = true;
      stream_->Finish(Reply(*closing_));
    }
  }

  const AgentParts parts_;
  const EngineOptions& options_;
  absl::Mutex mutex_;
  AgentStream* stream_ ABSL_GUARDED_BY(mutex_);
  std::deque<v1::ServerMessage> queue_ ABSL_GUARDED_BY(mutex_);
  v1::ServerMessage sending_;  // belongs to gRPC while writing_
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Status> closing_ ABSL_GUARDED_BY(mutex_);
  absl::Status reads_ ABSL_GUARDED_BY(mutex_);
};

AgentStream::AgentStream(const AgentParts& parts, StreamLease lease)
    : parts_(parts),
      engine_(parts.engine),
      lease_(std::move(lease)),
      link_(std::make_shared<Link>(this, parts)) {
  StartRead(&incoming_);
}

void AgentStream::OnReadDone(bool ok) {
  if (!ok) {
    // The engine hears of it now; OnDone() comes only after the last write.
    if (!agent_.empty()) engine_->Disconnect(agent_, link_.get());
    link_->Close(absl::OkStatus());
    return;
  }
  lease_.CountReceived(incoming_);
  if (absl::Status status = Handle(incoming_); !status.ok()) {
    link_->Close(status);
    return;
  }
  StartRead(&incoming_);
}

void AgentStream::OnWriteDone(bool ok) { link_->WriteDone(ok); }

void AgentStream::OnCancel() { link_->Close(absl::CancelledError("the stream was cancelled")); }

void AgentStream::OnDone() {
  link_->Detach();
  if (!agent_.empty()) engine_->Disconnect(agent_, link_.get());
  delete this;
}

std::vector<wire::AttemptKey> AgentStream::HeldOf(const v1::Register& message) const {
  const db::StoreIdentity& own = parts_.authority->own();
  std::vector<wire::AttemptKey> held;
  if (message.held_store_id() == own.id) held = ReadHeld(message.held());
  for (const v1::KeptResult& kept : message.kept()) {
    const absl::StatusOr<wire::AttemptKey> key = wire::FromWire(kept.ref());
    if (kept.store_id() != own.id || !key.ok()) continue;
    const int64_t epoch = kept.acknowledged_epoch();
    // This server acknowledged it, or has it from the server that did.
    if (epoch >= own.epoch || (epoch > 0 && engine_->HasResult(*key))) continue;
    held.push_back(*key);
    if (epoch == 0 || !parts_.missing->Add({*key, message.name(), epoch})) continue;
    engine_->Log({.level = LogLevel::kWarning,
                  .message = absl::StrCat("the server of epoch ", epoch,
                                          " acknowledged a result of agent ", message.name(),
                                          " that this store lacks; the agent delivers it again"),
                  .about = wire::AboutAttempt(*key, message.name())});
  }
  return held;
}

absl::Status AgentStream::CheckEpochs(const v1::Register& message) const {
  RETURN_IF_ERROR(CheckRange("register.known_epochs", message.known_epochs_size(), 0, kMaxEpochs));
  for (const v1::StoreEpoch& known : message.known_epochs()) {
    RETURN_IF_ERROR(
        parts_.authority->CheckAgainst({known.store_id(), known.epoch()}, known.address()));
  }
  return parts_.authority->Check();
}

absl::Status AgentStream::CheckName(const std::string& name) const {
  const std::optional<Caller>& caller = lease_.caller();
  if (!caller || caller->agent == name) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(
      caller->ToText(), " belongs to the agent \"", caller->agent, "\" and can't register \"", name,
      "\": start the agent with --name ", caller->agent,
      ", or give it a token of `meshwright token create --role agent --agent ", name, "`"));
}

absl::Status AgentStream::Register(const v1::Register& message) {
  if (!agent_.empty()) return absl::FailedPreconditionError("the agent is already registered");
  RETURN_IF_ERROR(wire::CheckAgentProtocol(message.protocol(), message.version()));
  RETURN_IF_ERROR(WithField(CheckAgentName(message.name()), "register.name"));
  RETURN_IF_ERROR(CheckName(message.name()));
  RETURN_IF_ERROR(CheckEpochs(message));
  if (message.identity().size() > kMaxIdentity) {
    return FieldError("register.identity", message.identity().substr(0, kMaxIdentity),
                      "must have at most 64 characters");
  }
  const std::string device_kind = wire::TextOf(message.device_set().device_kind());
  RETURN_IF_ERROR(planner::ParseDeviceKind(device_kind).status());
  RETURN_IF_ERROR(
      CheckRange("register.device_set.devices", message.device_set().devices(), 1, kMaxDevices));
  // 0 from agents older than the field.
  const int32_t slots = message.slots() == 0 ? 1 : message.slots();
  RETURN_IF_ERROR(wire::CheckEqualSlots("register.slots", slots, message.device_set().devices()));
  RETURN_IF_ERROR(CheckRange("register.device_set.memory_bytes",
                             message.device_set().memory_bytes(), 0, trial::kMostBytes));
  RETURN_IF_ERROR(CheckAddress(message.address()));
  RETURN_IF_ERROR(CheckRange("register.held", message.held_size(), 0, kMaxHeld));
  RETURN_IF_ERROR(CheckRange("register.kept", message.kept_size(), 0, kMaxHeld));
  RETURN_IF_ERROR(CheckRange("register.runners", message.runners_size(), 0, wire::kMostRunners));
  std::vector<wire::RunnerOffer> runners;
  for (const v1::RunnerOffer& offer : message.runners()) {
    ASSIGN_OR_RETURN(runners.emplace_back(), wire::FromWire(offer));
  }
  std::string cluster_json = message.cluster_json();
  // An agent of another version may write clusters in another form; it can run trials all the same.
  if (const absl::Status status = CheckCluster(cluster_json); !status.ok()) {
    engine_->Log({.level = LogLevel::kWarning,
                  .message = absl::StrCat("the cluster that agent ", message.name(),
                                          " measured can't be used: ", status.message()),
                  .about = {.agent = message.name()}});
    cluster_json.clear();
  }
  RETURN_IF_ERROR(engine_->Connect({.name = message.name(),
                                    .instance = message.instance(),
                                    .identity = message.identity(),
                                    .host = message.host(),
                                    .device_kind = device_kind,
                                    .devices = message.device_set().devices(),
                                    .slots = slots,
                                    .memory_bytes = message.device_set().memory_bytes(),
                                    .version = message.version(),
                                    .address = message.address(),
                                    .cluster_json = std::move(cluster_json),
                                    .runners = std::move(runners),
                                    .connect_time = {}},
                                   HeldOf(message), link_));
  agent_ = message.name();
  return absl::OkStatus();
}

void AgentStream::Finished(const v1::TrialFinished& message) {
  const absl::Status within = wire::CheckLimits(message);
  const absl::StatusOr<wire::AttemptKey> key = wire::FromWire(message.ref());
  // An agent sends a result again until it is answered.
  const auto answer = [link = link_, ref = message.ref()](const FinishVerdict& verdict) {
    if (verdict.kind != FinishVerdict::Outcome::kRetry) link->Acknowledge(ref, verdict);
  };
  if (!key.ok()) {
    return answer(Refused(key.status().code(), std::string(key.status().message())));
  }
  engine_->Finish(agent_, *key, message.token(),
                  within.ok() ? ReadResult(message.measurement()) : CantBeTaken(within), answer);
}

absl::Status AgentStream::Handle(const v1::AgentMessage& message) {
  RETURN_IF_ERROR(link_->reads());
  // A result's limits are checked in Finished(), which answers with what is wrong.
  if (!message.has_finished()) RETURN_IF_ERROR(wire::CheckLimits(message));
  if (message.has_register_()) return Register(message.register_());
  if (agent_.empty()) {
    return absl::FailedPreconditionError("the first message of an agent must be `register`");
  }
  // Messages that were on their way when another stream replaced this stream do not belong to the
  // new stream.
  if (link_->closing() && !message.has_finished()) return absl::OkStatus();
  switch (message.message_case()) {
    case v1::AgentMessage::kHeartbeat:
      RETURN_IF_ERROR(lease_.CheckStillCounts());
      RETURN_IF_ERROR(CheckRange("heartbeat.held", message.heartbeat().held_size(), 0, kMaxHeld));
      engine_->Hear(HeartbeatCame{agent_, ReadHeld(message.heartbeat().held())});
      link_->AcknowledgeHeartbeat(message.heartbeat().number());
      return absl::OkStatus();
    case v1::AgentMessage::kStarted: {
      ASSIGN_OR_RETURN(const wire::AttemptKey key, wire::FromWire(message.started().ref()));
      engine_->Hear(TrialStarted{agent_, key});
      return absl::OkStatus();
    }
    case v1::AgentMessage::kReady: {
      ASSIGN_OR_RETURN(const wire::AttemptKey key, wire::FromWire(message.ready().ref()));
      RETURN_IF_ERROR(CheckRange("ready.port", message.ready().port(), 0, kMostPort));
      engine_->Hear(MemberReady{agent_, key, message.ready().port()});
      return absl::OkStatus();
    }
    case v1::AgentMessage::kProgress: {
      const v1::TrialProgress& progress = message.progress();
      ASSIGN_OR_RETURN(const wire::AttemptKey key, wire::FromWire(progress.ref()));
      engine_->Hear(TrialProgressed{
          agent_,
          key,
          {progress.step(), progress.total_steps(), progress.step_s(), progress.loss()}});
      return absl::OkStatus();
    }
    case v1::AgentMessage::kFinished:
      Finished(message.finished());
      return absl::OkStatus();
    case v1::AgentMessage::kGoodbye:
      engine_->Leave(agent_, link_.get(), message.goodbye().reason());
      return absl::OkStatus();
    default:
      // A message type of a newer agent, which this server can't act on.
      return absl::OkStatus();
  }
}

}  // namespace meshwright::server

#include "tools/bench/load_agent.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "executor/wire/protocol.h"
#include "executor/wire/wire.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"

namespace meshwright::bench {
namespace {

std::shared_ptr<grpc::Channel> DialAsAgent(const std::string& server) {
  grpc::ChannelArguments arguments;
  // Each agent gets a separate connection, like an agent on another machine.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(server, grpc::InsecureChannelCredentials(), arguments);
}

std::string KeyOf(const v1::AttemptRef& ref) {
  return absl::StrCat(ref.trial(), "#", ref.attempt());
}

v1::Measurement SomeMeasurement() {
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kOk;
  result.step_s = 0.1;
  result.step_times_s.assign(10, 0.1);
  for (int32_t rank = 0; rank < 4; ++rank) {
    result.ranks.push_back({.rank = rank, .peak_bytes = 1'000'000});
  }
  result.worker_version = "load";
  return wire::ToWire(result);
}

}  // namespace

void LoadRecord::Acknowledged(absl::Duration after, absl::Time now) {
  ++acknowledged_;
  absl::MutexLock lock(&mutex_);
  latencies_.push_back(after);
  first_ = std::min(first_, now);
  last_ = std::max(last_, now);
}

std::vector<absl::Duration> LoadRecord::Latencies() {
  absl::MutexLock lock(&mutex_);
  std::vector<absl::Duration> sorted = latencies_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

absl::Duration LoadRecord::Span() {
  absl::MutexLock lock(&mutex_);
  return std::max(last_ - first_, absl::ZeroDuration());
}

LoadAgent::LoadAgent(const std::string& server, const std::string& name, absl::Duration trial_time,
                     LoadRecord* record)
    : trial_time_(trial_time), record_(record), stub_(v1::Agents::NewStub(DialAsAgent(server))) {
  stub_->async()->Connect(&context_, this);
  v1::AgentMessage message;
  v1::Register* registration = message.mutable_register_();
  registration->set_name(name);
  registration->set_instance(name);
  registration->set_host("load");
  registration->set_protocol(wire::kAgentProtocol);
  registration->mutable_device_set()->set_device_kind(v1::DEVICE_KIND_CPU);
  registration->mutable_device_set()->set_devices(4);
  StartRead(&incoming_);
  {
    absl::MutexLock lock(&mutex_);
    queue_.push_back(std::move(message));
    Pump();
  }
  StartCall();
}

void LoadAgent::Pump() {
  if (writing_ || done_ || queue_.empty()) return;
  sending_ = std::move(queue_.front());
  queue_.pop_front();
  writing_ = true;
  grpc::WriteOptions options;
  if (!queue_.empty()) options.set_buffer_hint();
  StartWrite(&sending_, options);
}

void LoadAgent::Finish(Running& running, absl::Time now) {
  static const auto* const kMeasurement = new v1::Measurement(SomeMeasurement());
  running.sent = now;
  v1::AgentMessage message;
  *message.mutable_finished()->mutable_ref() = running.ref;
  message.mutable_finished()->set_token(running.token);
  *message.mutable_finished()->mutable_measurement() = *kMeasurement;
  queue_.push_back(std::move(message));
}

void LoadAgent::DoDue(absl::Time now) {
  absl::MutexLock lock(&mutex_);
  if (done_ || stopping_) return;
  for (auto& [key, running] : running_) {
    if (running.ends <= now && running.sent == absl::InfiniteFuture()) Finish(running, now);
  }
  if (now >= next_heartbeat_) {
    next_heartbeat_ = now + heartbeat_;
    v1::AgentMessage message;
    message.mutable_heartbeat();
    for (const auto& [key, running] : running_)
      *message.mutable_heartbeat()->add_held() = running.ref;
    queue_.push_back(std::move(message));
  }
  Pump();
}

void LoadAgent::OnReadDone(bool ok) {
  if (!ok) return;
  {
    absl::MutexLock lock(&mutex_);
    const absl::Time now = absl::Now();
    if (incoming_.has_registered()) {
      heartbeat_ = absl::Seconds(incoming_.registered().heartbeat_s());
      next_heartbeat_ = now + heartbeat_;
    } else if (incoming_.has_assignment()) {
      Running& running = running_[KeyOf(incoming_.assignment().ref())];
      running = {.ref = incoming_.assignment().ref(),
                 .token = incoming_.assignment().token(),
                 .ends = now + trial_time_};
      v1::AgentMessage started;
      *started.mutable_started()->mutable_ref() = running.ref;
      queue_.push_back(std::move(started));
      if (trial_time_ == absl::ZeroDuration()) Finish(running, now);
      Pump();
    } else if (incoming_.has_ack()) {
      const auto running = running_.find(KeyOf(incoming_.ack().ref()));
      if (running != running_.end()) {
        if (incoming_.ack().accepted()) {
          record_->Acknowledged(now - running->second.sent, now);
        } else {
          record_->Refused();
        }
        running_.erase(running);
      }
    } else if (incoming_.has_cancel()) {
      record_->Cancelled();
      running_.erase(KeyOf(incoming_.cancel().ref()));
    }
  }
  StartRead(&incoming_);
}

void LoadAgent::OnWriteDone(bool ok) {
  absl::MutexLock lock(&mutex_);
  writing_ = false;
  if (ok) Pump();
}

void LoadAgent::Stop() {
  {
    absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  context_.TryCancel();
}

void LoadAgent::OnDone(const grpc::Status&) {
  absl::MutexLock lock(&mutex_);
  if (!stopping_) record_->Broken();
  done_ = true;
}

void LoadAgent::Await() {
  absl::MutexLock lock(&mutex_);
  mutex_.Await(absl::Condition(&done_));
}

}  // namespace meshwright::bench

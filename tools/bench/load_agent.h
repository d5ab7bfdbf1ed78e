// LoadAgent is an agent for load tests of a server: its trials take a given time and measure
// nothing. It speaks the protocol of executor/agent over a connection of its own, but has no
// thread.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "meshwright/v1/agents.grpc.pb.h"

namespace meshwright::bench {

// LoadRecord holds counts and latencies of the results of all agents of a run.
class LoadRecord {
 public:
  // Counts a result that the server accepted at the time `now`. `after` is the time since the
  // result was sent.
  void Acknowledged(absl::Duration after, absl::Time now);
  void Refused() { ++refused_; }
  void Cancelled() { ++cancelled_; }
  void Broken() { ++broken_; }

  int64_t acknowledged() const { return acknowledged_.load(); }
  int64_t refused() const { return refused_.load(); }
  int64_t cancelled() const { return cancelled_.load(); }
  int64_t broken() const { return broken_.load(); }
  // Returns the times from a result to its acknowledgement, sorted.
  std::vector<absl::Duration> Latencies();
  // Returns the time from the first acknowledgement to the last.
  absl::Duration Span();

 private:
  std::atomic<int64_t> acknowledged_{0};
  std::atomic<int64_t> refused_{0};
  std::atomic<int64_t> cancelled_{0};  // attempts that the server stopped
  std::atomic<int64_t> broken_{0};     // streams that ended by themselves
  absl::Mutex mutex_;
  std::vector<absl::Duration> latencies_ ABSL_GUARDED_BY(mutex_);
  absl::Time first_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  absl::Time last_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

class LoadAgent final : public grpc::ClientBidiReactor<v1::AgentMessage, v1::ServerMessage> {
 public:
  // Connects to `server`. Each trial takes `trial_time`. REQUIRES: `record` outlives the agent.
  LoadAgent(const std::string& server, const std::string& name, absl::Duration trial_time,
            LoadRecord* record);
  // REQUIRES: the stream has ended (Await()).
  ~LoadAgent() override = default;

  // Ends trials that are due, and sends a heartbeat if one is due. Must be called often.
  void DoDue(absl::Time now);
  // Cancels the stream.
  void Stop();
  // Waits until the stream has ended.
  void Await();

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  struct Running {
    v1::AttemptRef ref;
    std::string token;
    absl::Time ends;
    absl::Time sent = absl::InfiniteFuture();  // when its result was sent
  };

  void Finish(Running& running, absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Pump() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const absl::Duration trial_time_;
  LoadRecord* const record_;
  std::unique_ptr<v1::Agents::Stub> stub_;
  grpc::ClientContext context_;
  v1::ServerMessage incoming_;

  absl::Mutex mutex_;
  std::map<std::string, Running> running_ ABSL_GUARDED_BY(mutex_);  // by trial and attempt
  std::deque<v1::AgentMessage> queue_ ABSL_GUARDED_BY(mutex_);
  v1::AgentMessage sending_;  // belongs to gRPC while writing_
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Time next_heartbeat_ ABSL_GUARDED_BY(mutex_) = absl::InfiniteFuture();
  absl::Duration heartbeat_ ABSL_GUARDED_BY(mutex_) = absl::Seconds(5);
};

}  // namespace meshwright::bench

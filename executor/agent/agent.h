// An agent: owns devices, dials a server, runs the trials it is handed and delivers their results.
//
// Callers may rely on: a result is delivered until the server that gave out its attempt
// acknowledged or refused it, over broken connections and restarts of either side; an assignment
// that can't be used is answered; a trial's workers are killed when its lease is over, which is
// counted from the last heartbeat that the server acknowledged, connected or not, when the server
// cancels it or turns out to be another one, and when the agent stops.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/system/log.h"
#include "base/system/monotonic_time.h"
#include "executor/agent/inbox.h"
#include "executor/agent/result_box.h"
#include "executor/agent/server_stream.h"
#include "executor/agent/trial_threads.h"
#include "executor/gang/gang.h"
#include "executor/wire/attempt_key.h"
#include "executor/wire/device_set.h"
#include "proto/server_access.h"

namespace meshwright::agent {

struct AgentOptions {
  ServerAccess server;
  std::string name;      // unique among the server's agents
  std::string instance;  // tells this process from another one of the same name
  std::string identity;  // the same in every process of this agent; empty where it keeps none
  std::string host;
  std::string version;
  wire::DeviceSet devices;
  std::optional<int64_t> memory_limit_bytes;  // per device; trials get at most this
  std::string address;       // where other agents reach this host; empty where none do
  std::string cluster_json;  // what the devices reach, text of a cluster file; may be empty
  std::string worker_path;
  std::string result_folder;  // where unacknowledged results are kept; empty: in memory
  TrialRunners runners;
  MonotonicClock clock = MonotonicNow;
  std::function<double()> uniform;  // random numbers from 0 to 1
  LogFunction log;
};

class Agent {
 public:
  explicit Agent(AgentOptions options);
  ~Agent();

  // Serves until `stop` returns true: then cancels what runs, delivers what was measured, tells the
  // server and returns OK, within 5 s unless a worker can't be ended. An
  // error is final: the server refused the agent, for its name as AlreadyExists, for who it says
  // it is as Unauthenticated or PermissionDenied, or the result folder can't be used.
  absl::Status Run(const std::function<bool()>& stop);

 private:
  struct Received {
    int64_t session;
    v1::ServerMessage message;
  };
  struct StreamEnded {
    int64_t session;
  };
  struct Stepped {
    wire::AttemptKey key;
    trial::TrialProgress progress;
  };
  struct Ended {
    wire::AttemptKey key;
    trial::TrialResult result;
  };
  struct Running {
    std::string store_id;  // of the server that gave it out
    wire::AttemptKey key;
    std::string token;
    std::optional<v1::TrialReady> ready = {};  // of one that several were given
    std::optional<TrialJob> prepared = {};     // likewise, until they are told to start
    MonotonicTime told_progress = MonotonicTime::Always();
  };
  using Event = std::variant<Received, StreamEnded, Stepped, Ended>;

  void Dial();
  // Waits for one event, at most `timeout`. False when there was none.
  bool HandleNext(absl::Duration timeout);
  void On(const Received& event);
  void On(const StreamEnded& event);
  void On(const Stepped& event);
  void On(const Ended& event);
  void OnRegistered(const v1::Registered& registered);
  void OnAssignment(const v1::Assignment& assignment);
  void OnStart(const v1::StartAttempt& start);
  // Ends what it runs of the attempt, whether it has started or not.
  void EndAttempt(const wire::AttemptKey& key, const std::string& store_id,
                  const std::string& reason);
  // Waits for the start of an attempt that several were given.
  void Prepare(const Running& given, TrialJob job);
  // The attempt's workers are started now.
  void TellStarted(const wire::AttemptKey& key);
  // Answers an assignment whose attempt this agent can't even name.
  void AnswerUnnamed(const v1::Assignment& assignment, const absl::Status& status);
  void OnAck(const v1::ResultAck& ack);
  void OnHeartbeatAck(const v1::HeartbeatAck& ack);
  void SendHeartbeat(MonotonicTime now);
  // What is due by the clock: dialling, heartbeats, redelivery, the end of a lease.
  void DoDue();
  // Those that could not be written before.
  void WriteResults(MonotonicTime now);
  void Deliver(const KeptResult& kept);
  void DeliverAll();
  void Send(const v1::AgentMessage& message);
  // Null where it does not run it. Of any store without `store_id`, and then the older one.
  Running* FindRunning(const wire::AttemptKey& key, const std::string& store_id = "");
  // What it runs for the server whose store is store_id_, and the results it has for it.
  std::vector<wire::AttemptKey> Held() const;
  void KeepResult(const Running& ran, trial::TrialResult result);
  // Whether there are results for the server that is there.
  bool HasResults() const;
  void Leave();
  void Log(LogLevel level, std::string message, LogFields about = {}) const;

  const AgentOptions options_;
  Inbox<Event> inbox_;
  std::optional<ResultBox> results_;
  std::unique_ptr<TrialThreads> trials_;
  std::unique_ptr<ServerStream> stream_;
  int64_t session_ = 0;  // of stream_; events of earlier ones are ignored
  bool registered_ = false;
  std::string store_id_;  // of the server that registered this agent last
  absl::Duration lease_ = absl::InfiniteDuration();  // as long as workers may run of it
  absl::Duration heartbeat_ = absl::Seconds(1);
  std::vector<Running> running_;  // assigned and not ended, oldest first
  int failures_ = 0;              // to connect, in a row
  bool said_unreachable_ = false;
  MonotonicTime next_dial_ = MonotonicTime::Always();
  MonotonicTime next_heartbeat_ = MonotonicTime::Never();
  MonotonicTime next_delivery_ = MonotonicTime::Never();
  MonotonicTime next_write_ = MonotonicTime::Always();
  // lease_ after the last heartbeat that was acknowledged, or the registration, was sent; Never
  // once what ran was ended for it.
  MonotonicTime lease_ends_ = MonotonicTime::Never();
  int64_t last_heartbeat_ = 0;  // its number on this stream
  // Of heartbeats that were not acknowledged, when they were sent; number 0 is the registration.
  std::map<int64_t, MonotonicTime> sent_heartbeats_;
  bool leaving_ = false;  // takes no more trials
  absl::Status fatal_;
};

}  // namespace meshwright::agent

// Agent owns devices, connects to a server, runs the trials assigned to it and delivers their
// results. It may have several servers, of which one decides and the others are its standbys. It
// tries them in turn and stays with the one that registers it.
//
// Guarantees:
// - A result is redelivered until the server that assigned its attempt acknowledges or refuses it.
//   This holds across broken connections and server restarts and, with a result folder, across
//   restarts of the agent.
// - An assignment that the agent can't run is answered with a failed result.
// - A trial's workers are killed when the agent's lease expires, when the server cancels the trial,
//   when the server turns out to have another store, and when the agent stops. The lease runs from
//   the last acknowledged heartbeat, whether or not the agent is connected.
// - The agent leaves a server whose epoch is lower than one that it met of the same store
//   (executor/agent/known_epochs.h), and tells each server of the epochs that it met.
// - A result that a server with a standby acknowledged is delivered again to a server of a later
//   epoch, for as long as that server asked to keep it.
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
#include "executor/agent/known_epochs.h"
#include "executor/agent/result_box.h"
#include "executor/agent/server_stream.h"
#include "executor/agent/trial_threads.h"
#include "executor/gang/gang.h"
#include "executor/wire/attempt_key.h"
#include "executor/wire/device_set.h"
#include "executor/wire/runner_offer.h"
#include "proto/server_access.h"

namespace meshwright::agent {

struct AgentOptions {
  ServerAccess server;
  std::vector<ServerAccess> other_servers = {};  // tried in turn, after `server`
  std::string name;                              // unique among the server's agents
  std::string instance;  // distinguishes this process from another one of the same name
  std::string identity;  // the same in every process of this agent; empty without a state folder
  std::string host;
  std::string version;
  wire::DeviceSet devices;
  std::optional<int64_t> memory_limit_bytes;  // per device; upper bound for trials
  std::string address;       // at which other agents reach this host; empty if they can't
  std::string cluster_json;  // the devices' cluster file as JSON text; may be empty
  std::string worker_path;
  std::vector<wire::RunnerOffer> offers;  // the runners of the user's own frameworks
  std::string result_folder;  // for unacknowledged results; if empty, they stay in memory
  std::string epochs_file;    // of the servers' epochs; if empty, they stay in memory
  TrialRunners runners;
  MonotonicClock clock = MonotonicNow;
  std::function<double()> uniform;  // random numbers from 0 to 1
  LogFunction log;
};

class Agent {
 public:
  explicit Agent(AgentOptions options);
  ~Agent();

  // Serves until `stop` returns true. Then cancels running trials, delivers results, tells the
  // server that it leaves, and returns OK. That takes at most 5 s unless a worker can't be killed.
  //
  // Returns an error only if retrying would not help: Unavailable if the result folder is unusable,
  // AlreadyExists if another agent has this name, Unauthenticated or PermissionDenied if the server
  // refuses the agent's credentials, and InvalidArgument or Unimplemented if agent and server don't
  // understand each other.
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
  // All ranks have sent their measurements, but their processes have not ended yet.
  struct Measured {
    wire::AttemptKey key;
    trial::TrialResult result;
  };
  struct Ended {
    wire::AttemptKey key;
    trial::TrialResult result;
  };
  struct Running {
    std::string store_id;  // of the server that assigned the attempt
    wire::AttemptKey key;
    std::string token;
    std::optional<v1::TrialReady> ready = {};  // set for a gang's attempt
    std::optional<TrialJob> prepared = {};     // a gang's job, until the server starts it
    MonotonicTime told_progress = MonotonicTime::Always();
  };
  using Event = std::variant<Received, StreamEnded, Stepped, Measured, Ended>;

  void Dial();
  // Fills in what the agent holds: attempts that run, and results.
  void AddHeld(v1::Register& message) const;
  // Returns the server that is connected or dialled next.
  const ServerAccess& server() const;
  // Chooses the server and the time of the next attempt to connect. `was_registered` says whether
  // the stream that ended was in use.
  void PlanDial(bool was_registered);
  // Returns FailedPrecondition if a standby took over from this server. Otherwise remembers its
  // epoch.
  absl::Status CheckEpoch(const v1::Registered& registered);
  // Ends the stream of a server that no longer decides.
  void LeaveOldServer(const absl::Status& why);
  // Waits at most `timeout` for one event and handles it. Returns false if no event came.
  bool HandleNext(absl::Duration timeout);
  void On(const Received& event);
  void On(const StreamEnded& event);
  void On(const Stepped& event);
  void On(const Measured& event);
  void On(const Ended& event);
  void OnRegistered(const v1::Registered& registered);
  void OnAssignment(const v1::Assignment& assignment);
  void OnStart(const v1::StartAttempt& start);
  // Ends the attempt here, whether or not it has started.
  void EndAttempt(const wire::AttemptKey& key, const std::string& store_id,
                  const std::string& reason);
  // Prepares a gang's attempt and reports that it is ready. OnStart() starts it.
  void Prepare(const Running& given, TrialJob job);
  // Reports that the attempt's workers start now.
  void TellStarted(const wire::AttemptKey& key);
  // Answers an assignment whose attempt has no usable name.
  void AnswerUnnamed(const v1::Assignment& assignment, const absl::Status& status);
  void OnAck(const v1::ResultAck& ack);
  void OnHeartbeatAck(const v1::HeartbeatAck& ack);
  void SendHeartbeat(MonotonicTime now);
  // Does the work that is due: dials, sends heartbeats, redelivers results and ends expired leases.
  void DoDue();
  // Retries writing results that could not be written.
  void WriteResults(MonotonicTime now);
  void Deliver(const KeptResult& kept);
  void DeliverAll();
  void Send(const v1::AgentMessage& message);
  // Returns the running attempt `key`, or null if it does not run here. With an empty `store_id`,
  // searches the attempts of all stores, the oldest first.
  Running* FindRunning(const wire::AttemptKey& key, const std::string& store_id = "");
  // Returns the attempts that run for the server of store_id_, and the attempts whose results are
  // kept for that server.
  std::vector<wire::AttemptKey> Held() const;
  // Writes a result that KeepResult() is going to keep.
  void WriteAhead(const Running& runs, trial::TrialResult result);
  void KeepResult(const Running& ran, trial::TrialResult result);
  // Returns whether there are results for the connected server.
  bool HasResults() const;
  void Leave();
  void Log(LogLevel level, std::string message, LogFields about = {}) const;

  const AgentOptions options_;
  Inbox<Event> inbox_;
  std::optional<ResultBox> results_;
  std::unique_ptr<TrialThreads> trials_;
  std::unique_ptr<ServerStream> stream_;
  int64_t session_ = 0;  // of stream_; events of earlier sessions are ignored
  bool registered_ = false;
  std::string store_id_;  // of the server that last registered this agent
  int64_t epoch_ = 0;     // of the same server
  KnownEpochs epochs_;
  size_t server_ = 0;  // index of server(), in `server` and `other_servers`
  // Workers may run for this long after an acknowledged heartbeat.
  absl::Duration lease_ = absl::InfiniteDuration();
  absl::Duration heartbeat_ = absl::Seconds(1);
  std::vector<Running> running_;  // assigned and not ended, oldest first
  int failures_ = 0;              // consecutive failures to connect
  bool said_unreachable_ = false;
  MonotonicTime next_dial_ = MonotonicTime::Always();
  MonotonicTime next_heartbeat_ = MonotonicTime::Never();
  MonotonicTime next_delivery_ = MonotonicTime::Never();
  MonotonicTime next_write_ = MonotonicTime::Always();
  // When the lease expires. This is the duration lease_ after the agent sent the last heartbeat
  // that was acknowledged, or the registration. The value is Never() once the lease has expired and
  // its trials were ended.
  MonotonicTime lease_ends_ = MonotonicTime::Never();
  int64_t last_heartbeat_ = 0;  // number of the last heartbeat sent on this stream
  // Send times of unacknowledged heartbeats by number; number 0 is the registration.
  std::map<int64_t, MonotonicTime> sent_heartbeats_;
  bool leaving_ = false;  // accepts no more trials
  absl::Status fatal_;
};

}  // namespace meshwright::agent

// Follower keeps a standby's copy up to date with the first server, on a thread of its own.
//
// Callers may rely on: the follower tries its servers in turn and stays with the one that answers;
// while none does, it tries again every second. It acknowledges a transaction only after the copy
// has it durably. All functions may be called from any thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "base/system/log.h"
#include "base/system/monotonic_time.h"
#include "db/standby_copy.h"
#include "grpcpp/client_context.h"
#include "meshwright/v1/standby.grpc.pb.h"
#include "proto/server_access.h"
#include "server/standby/standing.h"

namespace meshwright::server {

struct FollowerOptions {
  std::vector<ServerAccess> servers;  // at least one
  std::string name;                   // of this standby, for people
  std::string address;                // on which this standby listens
  MonotonicClock clock;
  LogFunction log;  // may be empty
  // Called on the follower's thread after each snapshot, when tokens may have changed as a whole.
  std::function<void()> renewed;
  // Called on the follower's thread if following can't succeed: the copy has another store.
  std::function<void(const absl::Status&)> failed;
};

class Follower {
 public:
  Follower(std::unique_ptr<db::StandbyCopy> copy, FollowerOptions options);
  ~Follower();

  // Returns the standby's part of the standing.
  Standing Now() const;
  // Ends following and returns the copy. REQUIRES: called once.
  std::unique_ptr<db::StandbyCopy> Stop();

 private:
  using Stream = grpc::ClientReaderWriter<v1::FollowRequest, v1::FollowResponse>;

  void Run();
  // Follows one server until the stream ends. Returns why it ended.
  absl::Status Follow(const ServerAccess& server);
  absl::Status Handle(const v1::FollowResponse& message, Stream& stream);
  absl::Status BeginSnapshot();
  absl::Status EndSnapshot(const v1::SnapshotEnd& end);
  absl::Status Acknowledge(Stream& stream);
  // Updates what Now() returns from the copy.
  void NoteCopy();
  bool stops() const;

  const FollowerOptions options_;
  std::unique_ptr<db::StandbyCopy> copy_;  // used by the thread only, while it runs
  bool resync_ = false;  // the copy's place is of no use: the next hello asks for a snapshot
  // The snapshot that is being received.
  struct Received;
  std::unique_ptr<Received> received_;
  mutable std::mutex mutex_;
  std::condition_variable wakes_;
  // All below are guarded by mutex_.
  bool stops_ = false;
  grpc::ClientContext* context_ = nullptr;  // of the stream that is open
  Standing standing_;
  int64_t newest_ = 0;  // number of the server's newest transaction that is known
  int64_t have_ = 0;    // number of the copy's last transaction
  MonotonicTime had_all_;
  std::thread thread_;
};

}  // namespace meshwright::server

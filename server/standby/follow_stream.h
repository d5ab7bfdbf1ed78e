// FollowStream is the first server's end of one standby's stream. A thread of its own sends the
// snapshot and the transactions, one message at a time, so that a slow standby costs no memory.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/system/log.h"
#include "base/system/monotonic_time.h"
#include "meshwright/v1/standby.grpc.pb.h"
#include "server/calls/stream_lease.h"
#include "server/standby/authority.h"
#include "server/standby/change_log.h"

namespace meshwright::server {

struct FollowParts {
  ChangeLog* changes = nullptr;
  Authority* authority = nullptr;
  MonotonicClock clock;
  LogFunction log;  // may be empty
};

// Deletes itself when the stream is over.
class FollowStream final : public grpc::ServerBidiReactor<v1::FollowRequest, v1::FollowResponse> {
 public:
  // What `parts` points to must outlive the stream.
  FollowStream(FollowParts parts, StreamLease lease);
  ~FollowStream() override;

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  // Handles the first message. A status ends the stream, even if it is OK; nullopt lets it go on.
  std::optional<absl::Status> Greet(const v1::FollowHello& hello);
  void Run(v1::FollowHello hello);
  // Returns why the stream is over.
  absl::Status Serve(const v1::FollowHello& hello);
  absl::Status Welcome(bool sends_snapshot);
  absl::StatusOr<db::CopyPlace> SendSnapshot();
  absl::Status SendPulse();
  // Sends one message and waits until gRPC has taken it. Returns Cancelled if the stream is over.
  absl::Status Send(v1::FollowResponse message);
  void Close();
  bool closed() const;

  const FollowParts parts_;
  const StreamLease lease_;
  std::string name_;
  v1::FollowRequest incoming_;
  v1::FollowResponse outgoing_;  // belongs to gRPC while writing_
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::string log_id_;    // of the transactions that are sent; guarded by mutex_
  bool writing_ = false;  // guarded by mutex_
  bool closed_ = false;   // guarded by mutex_
  std::thread thread_;
};

}  // namespace meshwright::server

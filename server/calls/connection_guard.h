// ConnectionGuard closes connections whose peers make the server hold too much: parts of messages
// whose rest does not arrive, and calls that are reset before their message arrived.
//
// gRPC keeps what has arrived of a message for as long as the peer likes, whatever its largest
// message is, and shows it to nobody. The guard therefore compares two counts of each connection:
// the bytes that its socket received (TCP_INFO), and the bytes of the messages that reached a
// service. It keeps a second descriptor of each connection, so that it can close it.
//
// Callers may rely on: a peer that sends whole messages, one large one at a time, and does not
// reset its calls is closed only if all connections together hold too much, or the process grows
// too much, while that peer holds most.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/system/heap.h"
#include "base/system/log.h"
#include "base/system/monotonic_time.h"
#include "base/system/tcp_counts.h"
#include "base/system/unique_fd.h"
#include "grpcpp/support/server_interceptor.h"

namespace meshwright::server {

struct HeldLimits {
  int64_t connection_bytes = int64_t{40} << 20;  // more than the largest message
  int64_t total_bytes = int64_t{64} << 20;       // of all connections together
  // What a connection may hold for longer than `most_time`.
  int64_t lasting_bytes = int64_t{1} << 20;
  absl::Duration most_time = absl::Minutes(2);
  // Calls of one connection that were reset before their message arrived, beyond those that
  // `resets_per_s` has forgiven since.
  double resets = 200.0;
  double resets_per_s = 10.0;
  // How much the process may grow from when its connections hold next to nothing. gRPC needs some
  // 20 KiB for each call that it has not handled, and handles none while it reads many.
  int64_t growth_bytes = int64_t{96} << 20;
  // How long no connection is taken after one was closed for its resets or for the growth, so that
  // what it left is worked off before the same peer connects again.
  absl::Duration pause = absl::Seconds(1);
};

struct GuardOptions {
  HeldLimits limits;
  MonotonicClock clock = MonotonicNow;
  LogFunction log;                // may be empty
  std::function<void()> refused;  // called for each connection that was closed; may be empty
  std::function<int64_t()> resident_bytes = ResidentBytes;  // of the process
};

class ConnectionGuard {
 public:
  explicit ConnectionGuard(GuardOptions options) : options_(std::move(options)) {}
  ~ConnectionGuard() { Stop(); }

  // Starts a thread that calls Check() every 50 ms, or every 10 ms while much is held, until
  // Stop().
  void Begin();
  void Stop();

  // Watches a connected TCP socket from now until its owner or its peer closes it. Waits if there
  // is a pause (HeldLimits::pause). Returns Unavailable, with the system's reason, if there is no
  // descriptor for it.
  absl::Status Add(int connection);
  // Records that a message of that many bytes reached a service. `peer` is the connection's name
  // as grpc::ServerContext::peer() gives it; a name that is not watched is ignored.
  void Received(std::string_view peer, int64_t bytes);
  // Records that a call ended before its message arrived. Closes the connection if these are more
  // than they may be.
  void CountReset(std::string_view peer);
  // Reads every connection's count of bytes and closes those that hold too much. Returns how many
  // bytes all together still hold.
  int64_t Check();

  // Returns what tells the guard of every call. REQUIRES: the guard outlives the server.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> Interceptors();

 private:
  struct Connection {
    UniqueFd descriptor;
    TcpCounts counts;        // when they were read last
    int64_t held_bytes = 0;  // read, and not part of a message that reached a service
    // Since when it has held more than HeldLimits::lasting_bytes.
    MonotonicTime lasting_since = MonotonicTime::Never();
    MonotonicTime last_check;
    double resets = 0.0;  // that are not forgiven
    MonotonicTime last_reset;
  };
  // Adds what the socket read since it was asked last. Returns false if its owner or the network
  // has closed it.
  static bool Read(Connection& connection);
  // Returns the sentence that says what a connection holds too much of; empty if it may go on.
  std::string TooMuch(MonotonicTime now, Connection& connection) const;
  // Closes a connection, counts that, and logs why.
  void Close(const std::string& peer, const Connection& connection, std::string_view why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Closes the connection that holds most if the process has grown too much. Returns how many bytes
  // it held, or 0 if it goes on.
  int64_t LimitGrowth(MonotonicTime now, int64_t total_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Closes the connection that holds most and returns how many bytes that is. `why` ends where the
  // sentence says how many. REQUIRES: there is a connection.
  int64_t CloseLargest(std::string_view why) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  void AwaitPause();

  const GuardOptions options_;
  absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Connection> connections_ ABSL_GUARDED_BY(mutex_);
  int64_t calm_resident_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  MonotonicTime calm_since_ ABSL_GUARDED_BY(mutex_) = MonotonicTime::Always();
  MonotonicTime pause_end_ ABSL_GUARDED_BY(mutex_) = MonotonicTime::Always();
  MonotonicTime next_log_ ABSL_GUARDED_BY(mutex_) = MonotonicTime::Always();
  // A std::mutex, since timed waits on an absl::Mutex follow the wall clock.
  std::mutex stop_mutex_;
  std::condition_variable stop_;
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace meshwright::server

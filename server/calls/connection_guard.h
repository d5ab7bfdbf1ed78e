// ConnectionGuard closes connections whose peers make the server hold too much memory. A peer does
// so if it sends incomplete messages, or resets calls before their messages arrive.
//
// gRPC keeps the received part of a message until the peer sends the rest, and shows that part to
// nobody. The guard therefore compares two counts for each connection: the bytes that the socket
// received (TCP_INFO), and the bytes of the messages that reached a service. The difference counts
// as held. The guard has its own descriptor of each connection, with which it closes the
// connection.
//
// Callers may rely on: a peer that sends complete messages, at most one large message at a time,
// and does not reset its calls is seldom closed. Its connection is closed only if it holds the most
// bytes at a time when all connections together hold too many bytes or the process has grown too
// much.
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
  int64_t connection_bytes = int64_t{40} << 20;  // of one connection; exceeds the largest message
  int64_t total_bytes = int64_t{64} << 20;       // of all connections together
  // Bytes that a connection may hold for longer than `most_time`.
  int64_t lasting_bytes = int64_t{1} << 20;
  absl::Duration most_time = absl::Minutes(2);
  // Calls that one connection may reset before their messages arrive. The count of its resets falls
  // by `resets_per_s` each second.
  double resets = 200.0;
  double resets_per_s = 10.0;
  // Resident bytes by which the process may exceed its calm size, which is its size while
  // connections hold almost nothing. gRPC needs about 20 KiB for each call that it has not handled,
  // and handles no call while it reads many.
  int64_t growth_bytes = int64_t{96} << 20;
  // Time for which no connection is accepted after one was closed for its resets or for the
  // process's growth. In this time gRPC works off the calls that the closed connection left.
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

  // Starts a thread that calls Check() every 50 ms, or every 10 ms while connections hold many
  // bytes, until Stop().
  void Begin();
  void Stop();

  // Watches a connected TCP socket until its owner or its peer closes it. Blocks during a pause
  // (HeldLimits::pause). Returns Unavailable, with the system's reason, if the process has no free
  // descriptor.
  absl::Status Add(int connection);
  // Records that a message of `bytes` bytes reached a service. `peer` is the connection's name from
  // grpc::ServerContext::peer(); the name of a connection that is not watched is ignored.
  void Received(std::string_view peer, int64_t bytes);
  // Records that a call ended before its message arrived. Closes the connection if it had too many
  // such calls.
  void CountReset(std::string_view peer);
  // Reads every connection's count of bytes and closes the connections that hold too many. Returns
  // the number of bytes that the remaining connections hold together.
  int64_t Check();

  // Returns interceptors that call CountReset(). REQUIRES: the guard outlives the gRPC server that
  // gets them.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> Interceptors();

 private:
  struct Connection {
    UniqueFd descriptor;
    TcpCounts counts;        // the counts that were read last
    int64_t held_bytes = 0;  // received, and not part of a message that reached a service
    // Start of the time for which `held_bytes` has exceeded HeldLimits::lasting_bytes.
    MonotonicTime lasting_since = MonotonicTime::Never();
    MonotonicTime last_check;
    double resets = 0.0;  // at the time last_reset; falls by HeldLimits::resets_per_s
    MonotonicTime last_reset;
  };
  // Adds the bytes that the socket received since the last call. Returns false if the connection's
  // owner or the network has closed it.
  static bool Read(Connection& connection);
  // Returns a message that says which limit the connection exceeds; empty if it exceeds none.
  std::string TooMuch(MonotonicTime now, Connection& connection) const;
  // Closes a connection, reports it to GuardOptions::refused, and logs why.
  void Close(const std::string& peer, const Connection& connection, std::string_view why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Closes the connection that holds the most bytes if the process has grown too much. Returns the
  // number of bytes that the closed connection held, or 0 if none was closed.
  int64_t LimitGrowth(MonotonicTime now, int64_t total_bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Closes the connection that holds the most bytes, and returns the number of these bytes. That
  // number is appended to `why` in the log. REQUIRES: there is a connection.
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

// ConnectionListener accepts TCP connections at one address and hands each on, on a thread of its
// own.
//
// It keeps the process from running out of file descriptors: a connection whose descriptor lies
// above `max_descriptor` is closed at once. If accept() fails, for want of descriptors or memory or
// because the network is down, the listener tries again every 100 ms until it succeeds; gRPC's own
// listener would never accept again. Both are logged once in 10 s at most.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "base/system/host_port.h"
#include "base/system/log.h"
#include "base/system/monotonic_time.h"
#include "base/system/unique_fd.h"

namespace meshwright::server {

struct ListenerOptions {
  int32_t max_descriptor = 0;  // the highest that a connection may have
  MonotonicClock clock = MonotonicNow;
  LogFunction log;                // may be empty
  std::function<void()> refused;  // called for each connection that was closed; may be empty
};

class ConnectionListener {
 public:
  // Receives a connected non-blocking socket, which it owns, and the listening socket's descriptor.
  using Take = std::function<void(UniqueFd connection, int listening)>;

  // Binds all addresses of the host, which others can connect to from now on; nothing is accepted
  // before Begin(). Port 0 picks a free one. Returns Unavailable, with the system's reason, if an
  // address can't be bound.
  static absl::StatusOr<std::unique_ptr<ConnectionListener>> Bind(const HostPort& listen,
                                                                  ListenerOptions options);
  ~ConnectionListener();

  // Returns the bound port.
  int port() const { return port_; }
  // Starts the thread that calls `take`. To be called once.
  void Begin(Take take);
  // Accepts nothing more. `take` is not called afterwards.
  void Stop();

 private:
  ConnectionListener(ListenerOptions options, UniqueFd wake);
  absl::Status BindAll(const HostPort& listen);
  void Run(const Take& take);
  // Returns false if accepting failed and should be tried again later.
  bool AcceptFrom(int listening, const Take& take);
  void Log(const std::string& message);

  const ListenerOptions options_;
  const UniqueFd wake_;  // readable once the thread has to end
  std::vector<UniqueFd> listening_;
  int port_ = 0;
  MonotonicTime next_log_ = MonotonicTime::Always();
  std::thread thread_;
};

// Returns the highest descriptor that a connection may have: two for each of `max_connections`, of
// which one is the guard's (connection_guard.h), beyond the descriptors open now, but at least 64
// below the process's limit, for the store, logs and children.
int32_t HighestConnectionDescriptor(int32_t max_connections);

}  // namespace meshwright::server

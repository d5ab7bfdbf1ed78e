// ConnectionListener accepts TCP connections at one address, on a thread of its own, and passes
// each connection to a function.
//
// So that the process does not run out of file descriptors, a connection whose descriptor lies
// above `max_descriptor` is closed immediately. If accept() fails because descriptors or memory are
// short or the network is down, the listener tries again every 100 ms; gRPC's own listener would
// never accept again. The listener logs closed connections and failures at most once in 10 s.
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
  int32_t max_descriptor = 0;  // the highest descriptor that a connection may have
  MonotonicClock clock = MonotonicNow;
  LogFunction log;                // may be empty
  std::function<void()> refused;  // called for each connection that was closed; may be empty
};

class ConnectionListener {
 public:
  // Receives a connected non-blocking socket, which it owns, and the listening socket's descriptor.
  using Take = std::function<void(UniqueFd connection, int listening)>;

  // Binds all addresses of `listen`. Clients can connect from now on, but no connection is accepted
  // before Begin(). Port 0 picks a free port. Returns Unavailable, with the system's reason, if an
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

// Returns the highest descriptor that a connection may have. It leaves room for the descriptors
// that are open now and for two descriptors per connection, one of which the guard uses
// (connection_guard.h). The result is at least 64 below the process's limit, so that the store,
// logs and child processes have descriptors too.
int32_t HighestConnectionDescriptor(int32_t max_connections);

}  // namespace meshwright::server

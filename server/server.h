// The server as a whole: store, engine, services and the port they listen on.
//
// Callers may rely on: after Start() the port is open; Stop() ends every call, waits for them and
// leaves the store closed and whole.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "grpcpp/server.h"
#include "server/agents_service.h"
#include "server/event_hub.h"
#include "server/planner_service.h"
#include "server/sweep_engine.h"
#include "server/sweeps_service.h"

namespace meshwright {

struct ServerOptions {
  std::string listen = "127.0.0.1:7077";  // HOST:PORT; port 0 picks a free one
  bool insecure_listen = false;           // allows addresses off loopback
  int32_t host_cores = 1;                 // physical cores, for clusters of processes on them
  std::string version;
  Clock clock;
  MonotonicClock monotonic_clock = MonotonicNow;
  EngineOptions engine;
};

// OK when `listen` is HOST:PORT and, unless `insecure` is set, HOST is this machine only.
// InvalidArgument says what is wrong.
absl::Status CheckListenAddress(const std::string& listen, bool insecure);

class Server {
 public:
  // InvalidArgument for an address that can't be used; Unavailable when the port is taken.
  static absl::StatusOr<std::unique_ptr<Server>> Start(std::unique_ptr<SweepStore> store,
                                                       ServerOptions options);
  ~Server();

  // HOST:PORT with the real port.
  const std::string& address() const { return address_; }
  void Stop();

 private:
  Server(std::unique_ptr<SweepStore> store, std::string store_id, ServerOptions options);
  absl::Status Listen();
  void RunTimer();

  const ServerOptions options_;
  const std::unique_ptr<SweepStore> store_;
  std::atomic<bool> stopping_{false};
  EventHub hub_;
  SweepEngine engine_;
  PlannerService planner_service_;
  SweepsService sweeps_service_;
  AgentsService agents_service_;
  std::string address_;
  std::unique_ptr<grpc::Server> grpc_;
  // Not Abseil's, whose timed waits end by the wall clock: one that is set back would hold up
  // leases.
  std::mutex timer_mutex_;
  std::condition_variable timer_wakes_;
  std::thread timer_;  // wakes the engine so that leases end in time
};

}  // namespace meshwright

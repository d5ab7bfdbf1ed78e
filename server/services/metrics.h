// Metrics holds a server's counters, histograms and gauges for Prometheus.
//
//   meshwright_calls_total{method, code}   calls that ended, including streams
//   meshwright_call_seconds{method}        durations of unary calls
//   meshwright_events_total{kind}          stored events of sweeps: results, losses …
//   meshwright_refusals_total{limit}       calls refused by a limit (server/calls/limits.h)
//   meshwright_agents{state}               connected agents, idle or busy with a trial
//   meshwright_trials{state}               pending or held trials of sweeps that have not ended
//   meshwright_sweeps                      sweeps that have not ended
//   meshwright_store_up                    1, or 0 while the store can't be written
//   meshwright_epoch                       epoch of the store; 0 while a standby has no copy
//   meshwright_decides                     1, or 0 for a standby
//   meshwright_standby_connected{standby}  1, or 0 while a standby's stream is broken
//   meshwright_standby_behind_transactions{standby}  what standbys lack, on both servers
//   meshwright_standby_behind_bytes{standby}
//   meshwright_standby_behind_seconds{standby}       time since the standby lacked nothing
//   process_open_fds, process_max_fds      file descriptors, under Prometheus' common names
//
// All functions may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/system/monotonic_time.h"
#include "db/records.h"
#include "grpcpp/support/server_interceptor.h"
#include "grpcpp/support/status.h"
#include "prometheus/collectable.h"
#include "prometheus/counter.h"
#include "prometheus/histogram.h"
#include "prometheus/registry.h"
#include "server/engine/engine_figures.h"
#include "server/standby/standing.h"

namespace meshwright::server {

class Metrics {
 public:
  explicit Metrics(MonotonicClock clock);

  void CountCall(const std::string& method, grpc::StatusCode code);
  void TimeCall(const std::string& method, absl::Duration took);
  // Counts a call that a limit of server/calls/limits.h refused.
  void CountRefusal(const std::string& limit);
  void CountEvents(const std::vector<db::EventRecord>& events);
  // Sets the function that each scrape calls for the engine's figures. An empty function means that
  // there is no engine.
  void SetFigures(std::function<EngineFigures()> figures);
  // Sets, in the same way, the function for who decides and who follows.
  void SetStanding(std::function<Standing()> standing);

  // Returns interceptors that count every call of a server and time its unary calls. REQUIRES: the
  // metrics outlive the server that gets the interceptors.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> Interceptors();

  // Returns all metrics above in Prometheus' text format.
  std::string Text() const;

 private:
  class Figures;

  const MonotonicClock clock_;
  const std::shared_ptr<prometheus::Registry> registry_;
  const std::shared_ptr<Figures> figures_;
  prometheus::Family<prometheus::Counter>& calls_;
  prometheus::Family<prometheus::Histogram>& call_seconds_;
  prometheus::Family<prometheus::Counter>& events_;
  prometheus::Family<prometheus::Counter>& refusals_;
};

}  // namespace meshwright::server

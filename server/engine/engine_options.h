// EngineOptions are the engine's timeouts and limits.
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace meshwright::server {

// Consecutive heartbeats that an agent may miss before it counts as possibly gone.
inline constexpr int32_t kMissedHeartbeats = 2;

struct EngineOptions {
  absl::Duration lease = absl::Seconds(30);     // silence after which an agent counts as gone
  absl::Duration heartbeat = absl::Seconds(5);  // interval at which agents are asked to report
  absl::Duration reconnect_grace = absl::Seconds(5);  // replaces the lease after a broken stream
  // A sweep waits this long for devices that other trials use before it reports the wait. Without
  // this delay, sweeps that take turns would report a wait around each of their trials.
  absl::Duration turn_patience = absl::Seconds(5);
  int32_t max_lost_attempts = 3;  // a trial that has lost this many attempts fails
  // The store keeps the events of a sweep for this long after the sweep's end; an infinite duration
  // keeps them forever. Each sweep's last event is always kept.
  absl::Duration event_retention = absl::Hours(24 * 90);
  // Consecutive failures after which an agent is quarantined. An agent fails if it vanishes, or if
  // it reports an infrastructure or network fault.
  int32_t max_agent_failures = 3;
  // No attempt is assigned with a lower number. After a takeover, agents may hold attempts that the
  // first server gave out and the standby lacks; their numbers must not be given out again.
  int32_t first_attempt = 1;
};

}  // namespace meshwright::server

// How patient the engine is.
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace meshwright::server {

// Heartbeats in a row that an agent may miss before it counts as one that may be gone.
inline constexpr int32_t kMissedHeartbeats = 2;

struct EngineOptions {
  absl::Duration lease = absl::Seconds(30);           // silence after which an agent counts as gone
  absl::Duration heartbeat = absl::Seconds(5);        // how often agents are asked to report
  absl::Duration reconnect_grace = absl::Seconds(5);  // after a broken stream, instead of the lease
  // How long a sweep may wait for devices that other trials use before it says so: sweeps that take
  // turns would say it around each of their trials.
  absl::Duration turn_patience = absl::Seconds(5);
  int32_t max_lost_attempts = 3;  // then the trial fails
  // Events of sweeps that ended longer ago are forgotten, all but each sweep's last; infinite:
  // none.
  absl::Duration event_retention = absl::Hours(24 * 90);
  int32_t max_agent_failures = 3;  // of what it runs on, in a row: then the agent is set aside
};

}  // namespace meshwright::server

// A BenchmarkEvent is an event that a worker of a device benchmark sends. Rank 0 sends its device
// and its measurements, and the other ranks send signs of life. All ranks also send the events
// "hello" and "error" of executor/trial/rank_events.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "planner/measurement/device_benchmark.h"

namespace meshwright::trial {

// "device": the device of rank 0. Its fields are those of planner::DeviceBenchmark.
struct DeviceEvent {
  std::string name;
  int64_t memory_bytes = 0;
  int32_t compute_units = 1;
  int32_t physical_cores = 0;
  planner::MachineFacts machine = {};

  friend bool operator==(const DeviceEvent&, const DeviceEvent&) = default;
};

// "measured": one more case is finished.
struct MeasuredEvent {
  int32_t done = 0;   // number of cases finished so far
  int32_t cases = 0;  // number of all cases
  // At most one of the next three is set; none is set if the case was skipped.
  std::optional<planner::MatmulTiming> matmul = std::nullopt;
  std::optional<planner::CopyTiming> copy = std::nullopt;
  std::optional<planner::CollectiveTiming> collective = std::nullopt;

  friend bool operator==(const MeasuredEvent&, const MeasuredEvent&) = default;
};

// "alive": the progress of a rank that does not report measurements. Its fields are those of
// MeasuredEvent.
struct AliveEvent {
  int32_t done = 0;
  int32_t cases = 0;

  friend bool operator==(const AliveEvent&, const AliveEvent&) = default;
};

// "benchmark_done": the rank has finished all cases.
struct BenchmarkDoneEvent {
  friend bool operator==(const BenchmarkDoneEvent&, const BenchmarkDoneEvent&) = default;
};

using BenchmarkEvent =
    std::variant<std::monostate, DeviceEvent, MeasuredEvent, AliveEvent, BenchmarkDoneEvent>;

nlohmann::json ToJson(const BenchmarkEvent& event);
// Returns std::monostate for an event of another kind, and InvalidArgument naming the key if a key
// is missing or wrong.
absl::StatusOr<BenchmarkEvent> BenchmarkEventFromJson(const nlohmann::json& json);

}  // namespace meshwright::trial

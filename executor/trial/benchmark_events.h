// What the workers of a device benchmark tell beside a rank's hello and error
// (executor/trial/rank_events.h): rank 0 what it runs on and what it measured, the others that they
// are alive.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "planner/measurement/device_benchmark.h"

namespace meshwright::trial {

// "device": members as in planner::DeviceBenchmark.
struct DeviceEvent {
  std::string name;
  int64_t memory_bytes = 0;
  int32_t compute_units = 1;
  int32_t physical_cores = 0;

  friend bool operator==(const DeviceEvent&, const DeviceEvent&) = default;
};

// "measured": one case more is over.
struct MeasuredEvent {
  int32_t done = 0;   // cases that are over
  int32_t cases = 0;  // all of them
  // One of these, or none where the case was passed over.
  std::optional<planner::MatmulTiming> matmul = std::nullopt;
  std::optional<planner::CopyTiming> copy = std::nullopt;
  std::optional<planner::CollectiveTiming> collective = std::nullopt;

  friend bool operator==(const MeasuredEvent&, const MeasuredEvent&) = default;
};

// "alive": the same of a rank that does not tell what it measured.
struct AliveEvent {
  int32_t done = 0;
  int32_t cases = 0;

  friend bool operator==(const AliveEvent&, const AliveEvent&) = default;
};

// "benchmark_done": the rank has gone through all cases.
struct BenchmarkDoneEvent {
  friend bool operator==(const BenchmarkDoneEvent&, const BenchmarkDoneEvent&) = default;
};

using BenchmarkEvent =
    std::variant<std::monostate, DeviceEvent, MeasuredEvent, AliveEvent, BenchmarkDoneEvent>;

nlohmann::json ToJson(const BenchmarkEvent& event);
// Nothing for an event of another kind. InvalidArgument naming the key that is missing or wrong.
absl::StatusOr<BenchmarkEvent> BenchmarkEventFromJson(const nlohmann::json& json);

}  // namespace meshwright::trial

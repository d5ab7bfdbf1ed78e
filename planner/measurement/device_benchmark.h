// What micro-benchmarks measured on the devices of one host: matrix products, memory copies and
// collectives.
//
// Pure data with a JSON form. Every time is that of one operation on the slowest of the ranks that
// ran it at once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "planner/spec/collective_kind.h"
#include "planner/spec/device_kind.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Seconds of one operation, each window of many operations giving one mean.
struct Timing {
  double median_s = 0.0;  // of the windows
  double best_s = 0.0;

  friend bool operator==(const Timing&, const Timing&) = default;
};

// An (m x k) times (k x n) product on each of `ranks` ranks at once.
struct MatmulTiming {
  Precision precision = Precision::kFp32;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int32_t ranks = 1;
  Timing time;

  double Flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }

  friend bool operator==(const MatmulTiming&, const MatmulTiming&) = default;
};

// A copy within the memory of each of `ranks` devices at once: reads and writes `bytes` each.
struct CopyTiming {
  int64_t bytes = 0;
  int32_t ranks = 1;
  Timing time;

  friend bool operator==(const CopyTiming&, const CopyTiming&) = default;
};

// A collective of `groups` groups of `ranks` ranks at once: an all-reduce, all-gather or
// reduce-scatter, or kSend, one message one way. `bytes` is the full buffer: before a reduction,
// after a gather.
struct CollectiveTiming {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  int64_t bytes = 0;
  int32_t ranks = 2;
  int32_t groups = 1;
  Timing time;

  friend bool operator==(const CollectiveTiming&, const CollectiveTiming&) = default;
};

struct DeviceBenchmark {
  std::string host;
  std::string worker_version;
  std::string date;         // of the measurement, YYYY-MM-DD
  std::string device_name;  // as the driver has it, or the kernel for processors
  int32_t devices = 0;      // ranks; all of the host's that were asked for
  // Cores that the ranks share where they are processes on a CPU; 0 where each has a device.
  int32_t physical_cores = 0;
  int64_t memory_bytes = 0;   // of one device; a rank's share on a CPU
  int32_t compute_units = 1;  // of one device
  std::vector<MatmulTiming> matmuls;
  std::vector<CopyTiming> copies;
  std::vector<CollectiveTiming> collectives;

  DeviceKind device_kind() const {
    return physical_cores > 0 ? DeviceKind::kCpu : DeviceKind::kCuda;
  }

  friend bool operator==(const DeviceBenchmark&, const DeviceBenchmark&) = default;
};

// InvalidArgument naming the field that is no positive number.
absl::Status Validate(const MatmulTiming& timing);
absl::Status Validate(const CopyTiming& timing);
absl::Status Validate(const CollectiveTiming& timing);
absl::Status Validate(const DeviceBenchmark& benchmark);

// Fields of planner/measurement/device_benchmark_fields.h, where these are defined.
nlohmann::ordered_json ToJson(const DeviceBenchmark& benchmark);
// InvalidArgument naming the key that is missing or is no positive number.
absl::StatusOr<DeviceBenchmark> DeviceBenchmarkFromJson(const nlohmann::json& json);

}  // namespace meshwright::planner

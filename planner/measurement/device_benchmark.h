// DeviceBenchmark holds what micro-benchmarks measured on the devices of one host: matrix products,
// memory copies and collectives.
//
// DeviceBenchmark is plain data with a JSON form. If several ranks run an operation simultaneously,
// the time of the operation is that of the slowest rank.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "planner/spec/collective_kind.h"
#include "planner/spec/device_kind.h"
#include "planner/spec/fingerprint.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Times of one operation. A measurement has several windows. Each window runs the operation many
// times and gives the mean time.
struct Timing {
  double median_s = 0.0;  // median over the windows
  double best_s = 0.0;    // shortest over the windows

  friend bool operator==(const Timing&, const Timing&) = default;
};

// An (m x k) times (k x n) product, on each of `ranks` ranks simultaneously.
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

// A copy within the memory of a device, on each of `ranks` devices simultaneously. The copy reads
// `bytes` and writes `bytes`.
struct CopyTiming {
  int64_t bytes = 0;
  int32_t ranks = 1;
  Timing time;

  friend bool operator==(const CopyTiming&, const CopyTiming&) = default;
};

// A collective of `ranks` ranks, in each of `groups` groups simultaneously. The collective is an
// all-reduce, an all-gather, a reduce-scatter, or a kSend, which is one message in one direction.
// `bytes` is the size of the full buffer: before a reduction, after a gather.
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
  std::string date;         // date of the measurement, YYYY-MM-DD
  std::string device_name;  // name from the driver or, for a CPU, from the host's kernel
  int32_t devices = 0;      // devices that took part, or processes on a CPU; each is one rank
  // Cores that the ranks share if they are processes on a CPU; 0 if each rank has a device.
  int32_t physical_cores = 0;
  int64_t memory_bytes = 0;   // memory of one device; on a CPU, a rank's share
  int32_t compute_units = 1;  // compute units of one device
  MachineFacts machine = {};
  std::vector<MatmulTiming> matmuls;
  std::vector<CopyTiming> copies;
  std::vector<CollectiveTiming> collectives;

  DeviceKind device_kind() const {
    return physical_cores > 0 ? DeviceKind::kCpu : DeviceKind::kCuda;
  }

  friend bool operator==(const DeviceBenchmark&, const DeviceBenchmark&) = default;
};

// Return InvalidArgument, which names the field, if a number is out of range.
absl::Status Validate(const MatmulTiming& timing);
absl::Status Validate(const CopyTiming& timing);
absl::Status Validate(const CollectiveTiming& timing);
absl::Status Validate(const DeviceBenchmark& benchmark);

// Returns the JSON form, with the fields of planner/measurement/device_benchmark_fields.h.
nlohmann::ordered_json ToJson(const DeviceBenchmark& benchmark);
// Returns the benchmark of a JSON form. Returns InvalidArgument, which names the key, if a key is
// missing or its value is wrong.
absl::StatusOr<DeviceBenchmark> DeviceBenchmarkFromJson(const nlohmann::json& json);

}  // namespace meshwright::planner

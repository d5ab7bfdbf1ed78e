#include "planner/measurement/device_benchmark.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kMaxCount = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxBytes = int64_t{1} << 50;

// Of an entry whose fields' paths begin with `path`.
absl::Status Check(const std::string& path, const Timing& time) {
  RETURN_IF_ERROR(CheckPositive(path + "median_s", time.median_s));
  return CheckPositive(path + "best_s", time.best_s);
}

absl::Status Check(const std::string& path, const MatmulTiming& matmul) {
  RETURN_IF_ERROR(CheckRange(path + "m", matmul.m, 1, kMaxCount));
  RETURN_IF_ERROR(CheckRange(path + "n", matmul.n, 1, kMaxCount));
  RETURN_IF_ERROR(CheckRange(path + "k", matmul.k, 1, kMaxCount));
  RETURN_IF_ERROR(CheckRange(path + "ranks", matmul.ranks, 1, kMaxCount));
  return Check(path, matmul.time);
}

absl::Status Check(const std::string& path, const CopyTiming& copy) {
  RETURN_IF_ERROR(CheckRange(path + "bytes", copy.bytes, 1, kMaxBytes));
  RETURN_IF_ERROR(CheckRange(path + "ranks", copy.ranks, 1, kMaxCount));
  return Check(path, copy.time);
}

absl::Status Check(const std::string& path, const CollectiveTiming& collective) {
  RETURN_IF_ERROR(CheckRange(path + "bytes", collective.bytes, 1, kMaxBytes));
  RETURN_IF_ERROR(CheckRange(path + "ranks", collective.ranks, 1, kMaxCount));
  RETURN_IF_ERROR(CheckRange(path + "groups", collective.groups, 1, kMaxCount));
  return Check(path, collective.time);
}

template <typename T>
absl::Status CheckAll(const char* key, const std::vector<T>& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    RETURN_IF_ERROR(Check(absl::StrCat(key, "[", i, "]."), list[i]));
  }
  return absl::OkStatus();
}

absl::Status Check(const std::string& path, const DeviceBenchmark& benchmark) {
  RETURN_IF_ERROR(CheckRange(path + "devices", benchmark.devices, 1, kMaxCount));
  RETURN_IF_ERROR(CheckRange(path + "physical_cores", benchmark.physical_cores, 0, 1 << 16));
  RETURN_IF_ERROR(CheckRange(path + "memory_bytes", benchmark.memory_bytes, 1, kMaxBytes));
  RETURN_IF_ERROR(CheckRange(path + "compute_units", benchmark.compute_units, 1, kMaxCount));
  RETURN_IF_ERROR(CheckAll("matmuls", benchmark.matmuls));
  RETURN_IF_ERROR(CheckAll("copies", benchmark.copies));
  return CheckAll("collectives", benchmark.collectives);
}

}  // namespace

absl::Status Validate(const MatmulTiming& timing) { return Check("", timing); }

absl::Status Validate(const CopyTiming& timing) { return Check("", timing); }

absl::Status Validate(const CollectiveTiming& timing) { return Check("", timing); }

absl::Status Validate(const DeviceBenchmark& benchmark) { return Check("", benchmark); }

}  // namespace meshwright::planner

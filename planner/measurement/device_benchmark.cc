#include "planner/measurement/device_benchmark.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"
#include "planner/catalog/spec_fields.h"
#include "planner/codec/json_codec.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr EnumNames<CollectiveKind, 4> kKindNames = {{
    {CollectiveKind::kAllReduce, "all_reduce"},
    {CollectiveKind::kAllGather, "all_gather"},
    {CollectiveKind::kReduceScatter, "reduce_scatter"},
    {CollectiveKind::kSend, "send"},
}};
constexpr int64_t kMaxCount = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxBytes = int64_t{1} << 50;

}  // namespace

template <ConstOr<Timing> Time, typename Visitor>
void VisitFields(Time& time, Visitor& visit) {
  visit(Needed("median_s"), time.median_s);
  visit(Needed("best_s"), time.best_s);
}

template <ConstOr<MatmulTiming> Matmul, typename Visitor>
void VisitFields(Matmul& matmul, Visitor& visit) {
  visit(Needed("dtype"), matmul.precision, kPrecisionText);
  visit(Needed("m"), matmul.m);
  visit(Needed("n"), matmul.n);
  visit(Needed("k"), matmul.k);
  visit(Needed("ranks"), matmul.ranks);
  visit(Inside("time"), matmul.time);
}

template <ConstOr<CopyTiming> Copy, typename Visitor>
void VisitFields(Copy& copy, Visitor& visit) {
  visit(Needed("bytes"), copy.bytes);
  visit(Needed("ranks"), copy.ranks);
  visit(Inside("time"), copy.time);
}

template <ConstOr<CollectiveTiming> Collective, typename Visitor>
void VisitFields(Collective& collective, Visitor& visit) {
  visit(Needed("kind"), collective.kind, kKindNames);
  visit(Needed("bytes"), collective.bytes);
  visit(Needed("ranks"), collective.ranks);
  visit(Needed("groups"), collective.groups);
  visit(Inside("time"), collective.time);
}

template <ConstOr<DeviceBenchmark> Benchmark, typename Visitor>
void VisitFields(Benchmark& benchmark, Visitor& visit) {
  visit(Needed("host"), benchmark.host);
  visit(Needed("worker_version"), benchmark.worker_version);
  visit(Needed("date"), benchmark.date);
  visit(Needed("device_name"), benchmark.device_name);
  visit(Needed("devices"), benchmark.devices);
  visit(Needed("physical_cores"), benchmark.physical_cores);
  visit(Needed("memory_bytes"), benchmark.memory_bytes);
  visit(Needed("compute_units"), benchmark.compute_units);
  visit("matmuls", benchmark.matmuls);
  visit("copies", benchmark.copies);
  visit("collectives", benchmark.collectives);
}

namespace {

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

template <typename T>
absl::StatusOr<T> Read(std::string_view what, const json& from) {
  T read;
  RETURN_IF_ERROR(ReadJson(what, from, UnknownKeys::kPassOver, read));
  RETURN_IF_ERROR(Check("", read));
  return read;
}

}  // namespace

ordered_json ToJson(const MatmulTiming& timing) { return WriteOrderedJson(timing); }

ordered_json ToJson(const CopyTiming& timing) { return WriteOrderedJson(timing); }

ordered_json ToJson(const CollectiveTiming& timing) { return WriteOrderedJson(timing); }

ordered_json ToJson(const DeviceBenchmark& benchmark) { return WriteOrderedJson(benchmark); }

absl::StatusOr<MatmulTiming> MatmulTimingFromJson(const json& json) {
  return Read<MatmulTiming>("matmul", json);
}

absl::StatusOr<CopyTiming> CopyTimingFromJson(const json& json) {
  return Read<CopyTiming>("copy", json);
}

absl::StatusOr<CollectiveTiming> CollectiveTimingFromJson(const json& json) {
  return Read<CollectiveTiming>("collective", json);
}

absl::StatusOr<DeviceBenchmark> DeviceBenchmarkFromJson(const json& json) {
  return Read<DeviceBenchmark>("benchmark", json);
}

}  // namespace meshwright::planner

#include "planner/measurement/device_benchmark.h"

#include <limits>

#include "planner/codec/json_fields.h"
#include "planner/codec/json_text.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

absl::StatusOr<CollectiveKind> ParseKind(std::string_view name) {
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce, CollectiveKind::kAllGather,
                                    CollectiveKind::kReduceScatter, CollectiveKind::kSend}) {
    if (CollectiveKindName(kind) == name) return kind;
  }
  return FieldError("kind", name, "must be all_reduce, all_gather, reduce_scatter or send");
}

void AddTime(const Timing& time, ordered_json& object) {
  object["median_s"] = time.median_s;
  object["best_s"] = time.best_s;
}

int64_t PositiveInt(JsonFields& fields, const char* key, int64_t most) {
  const int64_t value = fields.Int(key);
  if (fields.status().ok()) fields.Fail(CheckRange(key, value, 1, most));
  return value;
}

int32_t PositiveCount(JsonFields& fields, const char* key) {
  return static_cast<int32_t>(PositiveInt(fields, key, kMaxInt));
}

double PositiveNumber(JsonFields& fields, const char* key) {
  const double value = fields.Number(key);
  if (fields.status().ok()) fields.Fail(CheckPositive(key, value));
  return value;
}

Timing ReadTime(JsonFields& fields) {
  return {.median_s = PositiveNumber(fields, "median_s"),
          .best_s = PositiveNumber(fields, "best_s")};
}

// All entries of the list `key`, an absent one being empty.
template <typename T>
absl::Status ReadList(const json& object, const char* key,
                      absl::StatusOr<T> (*read)(const json& entry), std::vector<T>& list) {
  const auto entries = object.find(key);
  if (entries == object.end()) return absl::OkStatus();
  if (!entries->is_array()) return FieldError(key, ShowJson(*entries), "must be a list");
  for (const json& entry : *entries) {
    if (!entry.is_object()) return FieldError(key, ShowJson(entry), "must hold objects");
    ASSIGN_OR_RETURN(T timing, read(entry));
    list.push_back(std::move(timing));
  }
  return absl::OkStatus();
}

template <typename T>
ordered_json ListToJson(const std::vector<T>& list) {
  ordered_json array = ordered_json::array();
  for (const T& timing : list) array.push_back(ToJson(timing));
  return array;
}

}  // namespace

ordered_json ToJson(const MatmulTiming& timing) {
  ordered_json object = {{"dtype", std::string(PrecisionName(timing.precision))},
                         {"m", timing.m},
                         {"n", timing.n},
                         {"k", timing.k},
                         {"ranks", timing.ranks}};
  AddTime(timing.time, object);
  return object;
}

ordered_json ToJson(const CopyTiming& timing) {
  ordered_json object = {{"bytes", timing.bytes}, {"ranks", timing.ranks}};
  AddTime(timing.time, object);
  return object;
}

ordered_json ToJson(const CollectiveTiming& timing) {
  ordered_json object = {{"kind", std::string(CollectiveKindName(timing.kind))},
                         {"bytes", timing.bytes},
                         {"ranks", timing.ranks},
                         {"groups", timing.groups}};
  AddTime(timing.time, object);
  return object;
}

ordered_json ToJson(const DeviceBenchmark& benchmark) {
  return {{"host", benchmark.host},
          {"worker_version", benchmark.worker_version},
          {"date", benchmark.date},
          {"device_name", benchmark.device_name},
          {"devices", benchmark.devices},
          {"physical_cores", benchmark.physical_cores},
          {"memory_bytes", benchmark.memory_bytes},
          {"compute_units", benchmark.compute_units},
          {"matmuls", ListToJson(benchmark.matmuls)},
          {"copies", ListToJson(benchmark.copies)},
          {"collectives", ListToJson(benchmark.collectives)}};
}

absl::StatusOr<MatmulTiming> MatmulTimingFromJson(const json& json) {
  JsonFields fields(json);
  MatmulTiming timing;
  const absl::StatusOr<Precision> precision = ParsePrecision(fields.String("dtype"));
  fields.Fail(precision.status());
  timing.precision = precision.value_or(Precision::kFp32);
  timing.m = PositiveInt(fields, "m", kMaxInt);
  timing.n = PositiveInt(fields, "n", kMaxInt);
  timing.k = PositiveInt(fields, "k", kMaxInt);
  timing.ranks = PositiveCount(fields, "ranks");
  timing.time = ReadTime(fields);
  RETURN_IF_ERROR(fields.status());
  return timing;
}

absl::StatusOr<CopyTiming> CopyTimingFromJson(const json& json) {
  JsonFields fields(json);
  const CopyTiming timing{.bytes = PositiveInt(fields, "bytes", int64_t{1} << 50),
                          .ranks = PositiveCount(fields, "ranks"),
                          .time = ReadTime(fields)};
  RETURN_IF_ERROR(fields.status());
  return timing;
}

absl::StatusOr<CollectiveTiming> CollectiveTimingFromJson(const json& json) {
  JsonFields fields(json);
  CollectiveTiming timing;
  const absl::StatusOr<CollectiveKind> kind = ParseKind(fields.String("kind"));
  fields.Fail(kind.status());
  timing.kind = kind.value_or(CollectiveKind::kAllReduce);
  timing.bytes = PositiveInt(fields, "bytes", int64_t{1} << 50);
  timing.ranks = PositiveCount(fields, "ranks");
  timing.groups = PositiveCount(fields, "groups");
  timing.time = ReadTime(fields);
  RETURN_IF_ERROR(fields.status());
  return timing;
}

absl::StatusOr<DeviceBenchmark> DeviceBenchmarkFromJson(const json& json) {
  if (!json.is_object()) return FieldError("benchmark", ShowJson(json), "must be a JSON object");
  JsonFields fields(json);
  DeviceBenchmark benchmark;
  benchmark.host = fields.String("host");
  benchmark.worker_version = fields.String("worker_version");
  benchmark.date = fields.String("date");
  benchmark.device_name = fields.String("device_name");
  benchmark.devices = PositiveCount(fields, "devices");
  const int64_t cores = fields.Int("physical_cores");
  benchmark.memory_bytes = PositiveInt(fields, "memory_bytes", int64_t{1} << 50);
  benchmark.compute_units = PositiveCount(fields, "compute_units");
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("physical_cores", cores, 0, 1 << 16));
  benchmark.physical_cores = static_cast<int32_t>(cores);
  RETURN_IF_ERROR(ReadList(json, "matmuls", MatmulTimingFromJson, benchmark.matmuls));
  RETURN_IF_ERROR(ReadList(json, "copies", CopyTimingFromJson, benchmark.copies));
  RETURN_IF_ERROR(ReadList(json, "collectives", CollectiveTimingFromJson, benchmark.collectives));
  return benchmark;
}

}  // namespace meshwright::planner

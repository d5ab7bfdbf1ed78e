#include "planner/measurement/device_benchmark_fields.h"

#include "base/text/status_macros.h"
#include "planner/codec/json_codec.h"

namespace meshwright::planner {

nlohmann::ordered_json ToJson(const DeviceBenchmark& benchmark) {
  return WriteOrderedJson(benchmark);
}

absl::StatusOr<DeviceBenchmark> DeviceBenchmarkFromJson(const nlohmann::json& json) {
  DeviceBenchmark benchmark;
  RETURN_IF_ERROR(ReadJson("benchmark", json, UnknownKeys::kPassOver, benchmark));
  RETURN_IF_ERROR(Validate(benchmark));
  return benchmark;
}

}  // namespace meshwright::planner

#include "tools/cli/device_profile.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "executor/host/host.h"
#include "executor/trial/version.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/json_text.h"
#include "planner/catalog/plan_query.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/flags.h"
#include "tools/cli/whole_file.h"

namespace meshwright {
namespace {

std::string DevicesName(DeviceKind kind, int32_t count) {
  return absl::StrCat(std::string(DeviceKindName(kind)), count);
}

}  // namespace

absl::StatusOr<DeviceBenchmark> MeasureDevices(const BenchmarkPlan& plan,
                                               const BenchmarkRunnerOptions& options) {
  ASSIGN_OR_RETURN(DeviceBenchmark benchmark, RunDeviceBenchmark(plan, options));
  benchmark.date = absl::FormatTime("%Y-%m-%d", absl::Now(), absl::UTCTimeZone());
  return benchmark;
}

absl::StatusOr<std::vector<ClusterSpec>> BaseClusters(CommandFiles& files, const std::string& base,
                                                      int32_t host_cores) {
  std::vector<ClusterSpec> known;
  if (!base.empty()) {
    ASSIGN_OR_RETURN(const SpecSource source, ReadSpecSource(files, "base", base));
    ASSIGN_OR_RETURN(known.emplace_back(), ResolveCluster(source, host_cores));
    return known;
  }
  for (const std::string& name : ClusterNames()) {
    ASSIGN_OR_RETURN(known.emplace_back(), FindCluster(name, host_cores));
  }
  return known;
}

absl::StatusOr<BenchmarkedCluster> ProfileOf(const DeviceBenchmark& benchmark,
                                             const std::vector<ClusterSpec>& known) {
  ASSIGN_OR_RETURN(const BenchmarkBase base, BaseFor(benchmark, known));
  const DeviceKind kind = benchmark.physical_cores > 0 ? DeviceKind::kCpu : DeviceKind::kCuda;
  return ClusterFromBenchmark(
      benchmark, base, absl::StrCat(benchmark.host, "-", DevicesName(kind, benchmark.devices)));
}

std::string KeptBenchmarkPath(const std::string& folder, const BenchmarkPlan& plan) {
  return absl::StrCat(folder, "/", HostName(), "-", DevicesName(plan.device, plan.ranks), ".json");
}

std::optional<DeviceBenchmark> ReadKeptBenchmark(const std::string& path,
                                                 const BenchmarkPlan& plan) {
  const absl::StatusOr<std::string> text = ReadWholeFile("benchmark", path);
  if (!text.ok()) return std::nullopt;
  const absl::StatusOr<nlohmann::json> json = ParseJson("benchmark", *text);
  if (!json.ok()) return std::nullopt;
  const absl::StatusOr<DeviceBenchmark> kept = DeviceBenchmarkFromJson(*json);
  const int32_t cores = plan.device == DeviceKind::kCpu ? PhysicalCores() : 0;
  if (!kept.ok() || kept->host != HostName() || kept->devices != plan.ranks ||
      kept->physical_cores != cores || kept->worker_version != WorkerVersion()) {
    return std::nullopt;
  }
  return *kept;
}

absl::Status KeepBenchmark(const std::string& path, const DeviceBenchmark& benchmark) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  return WriteWholeFile("benchmark", path, ToJson(benchmark).dump(2) + "\n");
}

}  // namespace meshwright

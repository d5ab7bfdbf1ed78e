#include "tools/cli/common/device_profile.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "executor/host/host.h"
#include "executor/trial/worker_version.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/plan_query.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/spec_source.h"
#include "tools/cli/io/whole_file.h"

namespace meshwright::cli {
namespace {

std::string DevicesName(planner::DeviceKind kind, int32_t count) {
  return absl::StrCat(std::string(planner::DeviceKindName(kind)), count);
}

}  // namespace

absl::StatusOr<planner::DeviceBenchmark> MeasureDevices(
    const trial::BenchmarkPlan& plan, const trial::BenchmarkRunnerOptions& options) {
  ASSIGN_OR_RETURN(planner::DeviceBenchmark benchmark, trial::RunDeviceBenchmark(plan, options));
  benchmark.date = Today();
  return benchmark;
}

absl::StatusOr<std::vector<planner::ClusterSpec>> BaseClusters(CommandFiles& files,
                                                               const std::string& base,
                                                               int32_t host_cores) {
  std::vector<planner::ClusterSpec> known;
  if (!base.empty()) {
    ASSIGN_OR_RETURN(const planner::SpecSource source, ReadSpecSource(files, "base", base));
    ASSIGN_OR_RETURN(known.emplace_back(), planner::ResolveCluster(source, host_cores));
    return known;
  }
  for (const std::string& name : planner::ClusterNames()) {
    ASSIGN_OR_RETURN(known.emplace_back(), planner::FindCluster(name, host_cores));
  }
  return known;
}

absl::StatusOr<planner::BenchmarkedCluster> ProfileOf(
    const planner::DeviceBenchmark& benchmark, const std::vector<planner::ClusterSpec>& known) {
  ASSIGN_OR_RETURN(const planner::BenchmarkBase base, planner::BaseFor(benchmark, known));
  return planner::ClusterFromBenchmark(
      benchmark, base,
      absl::StrCat(benchmark.host, "-", DevicesName(benchmark.device_kind(), benchmark.devices)));
}

std::string KeptBenchmarkPath(const std::string& folder, const trial::BenchmarkPlan& plan) {
  return absl::StrCat(folder, "/", host::HostName(), "-", DevicesName(plan.device, plan.ranks),
                      ".json");
}

std::optional<planner::DeviceBenchmark> ReadKeptBenchmark(const std::string& path,
                                                          const trial::BenchmarkPlan& plan) {
  const absl::StatusOr<std::string> text = ReadWholeFile("benchmark", path);
  if (!text.ok()) return std::nullopt;
  const absl::StatusOr<nlohmann::json> json = ParseJson("benchmark", *text);
  if (!json.ok()) return std::nullopt;
  const absl::StatusOr<planner::DeviceBenchmark> kept = planner::DeviceBenchmarkFromJson(*json);
  const int32_t cores = planner::SharesCores(plan.device) ? host::PhysicalCores() : 0;
  if (!kept.ok() || kept->host != host::HostName() || kept->devices != plan.ranks ||
      kept->physical_cores != cores || kept->worker_version != trial::WorkerVersion()) {
    return std::nullopt;
  }
  return *kept;
}

absl::Status KeepBenchmark(const std::string& path, const planner::DeviceBenchmark& benchmark) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  return WriteWholeFile("benchmark", path, ToJson(benchmark).dump(2) + "\n");
}

}  // namespace meshwright::cli

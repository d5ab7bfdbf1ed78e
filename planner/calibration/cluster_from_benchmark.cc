#include "planner/calibration/cluster_from_benchmark.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/cost/collective.h"
#include "planner/cost/operators.h"

namespace meshwright::planner {
namespace {

// A smaller share of a data sheet's rate means that another part was measured, such as a link of
// another kind.
constexpr double kLeastShare = 0.2;
// Copies up to this size measure launch time alone.
constexpr int64_t kLaunchBytes = 4096;

// The rate on a data sheet, and the measured share of this rate.
struct SplitRate {
  double rate;
  double share;
};
SplitRate Split(double measured, double data_sheet) {
  if (measured <= data_sheet && measured >= kLeastShare * data_sheet) {
    return {data_sheet, measured / data_sheet};
  }
  return {measured, 1.0};
}

// Disturbances only make times longer, so the best window is the hardware's time.
double BestSeconds(const Timing& time) { return time.best_s; }

double ShareOf(const DeviceBenchmark& benchmark, const ClusterSpec& cluster) {
  return ThroughputShare(cluster, benchmark.devices);
}

void SetIdentity(const DeviceBenchmark& benchmark, const BenchmarkBase& base,
                 ClusterSpec& cluster) {
  const bool cores = SharesCores(benchmark.device_kind());
  cluster.calibration = {};
  if (cluster.calibrated_from.empty() && (base.same_device || cores)) {
    cluster.calibrated_from = base.cluster.name;
  }
  cluster.fingerprint = {.device = benchmark.device_name,
                         .machine = benchmark.machine,
                         .date = benchmark.date,
                         .command = absl::StrCat("meshwright benchmark --devices ",
                                                 AbslView(DeviceKindName(benchmark.device_kind())),
                                                 ":", benchmark.devices)};
  cluster.rests_on = Evidence::kBenchmark;
  cluster.unmeasured.Remove(ClusterPart::kDevice);
  cluster.physical_cores = benchmark.physical_cores;
  cluster.device.name = cores ? benchmark.device_name + ", one core" : benchmark.device_name;
  cluster.device.memory_bytes = benchmark.memory_bytes;
  if (!cores) cluster.device.compute_units = benchmark.compute_units;
  if (!base.same_device) {
    cluster.gpu_names.clear();
    if (!cores) cluster.gpu_names.push_back(benchmark.device_name);
  }
  // Any number of processes may share the cores of a host, but a host has a fixed number of GPUs.
  if (cores) {
    cluster.devices_per_node = std::max(cluster.devices_per_node, benchmark.devices);
  } else if (!cluster.scale_up_spans_hosts) {
    cluster.devices_per_node = benchmark.devices;
  }
}

absl::Status SetMemory(const DeviceBenchmark& benchmark, const BenchmarkBase& base,
                       ClusterSpec& cluster) {
  const CopyTiming* largest = nullptr;
  double launch_s = std::numeric_limits<double>::infinity();
  for (const CopyTiming& copy : benchmark.copies) {
    // The launch time of a kernel does not depend on the other ranks.
    if (copy.bytes <= kLaunchBytes) launch_s = std::min(launch_s, BestSeconds(copy.time));
    if (copy.ranks != benchmark.devices) continue;
    if (largest == nullptr || copy.bytes > largest->bytes) largest = &copy;
  }
  if (largest == nullptr || largest->bytes <= kLaunchBytes) {
    return absl::InvalidArgumentError("the benchmark has no copy in memory on all devices at once");
  }
  const double rate = 2.0 * static_cast<double>(largest->bytes) / BestSeconds(largest->time) /
                      ShareOf(benchmark, cluster);
  const SplitRate split = Split(rate, base.same_device ? cluster.device.memory_bytes_per_s : 0.0);
  cluster.device.memory_bytes_per_s = split.rate;
  cluster.device.memory_efficiency = split.share;
  if (std::isfinite(launch_s)) cluster.device.kernel_launch_s = launch_s;
  return absl::OkStatus();
}

// Processes on a host's cores compute in the host's own memory.
void SetHostOfCores(const DeviceBenchmark& benchmark, ClusterSpec& cluster) {
  const double rate = cluster.device.memory_bytes_per_s * cluster.device.memory_efficiency;
  const auto devices = static_cast<double>(benchmark.devices);
  cluster.host = {.link_bytes_per_s = rate / 2.0,
                  .link_efficiency = 1.0,
                  .memory_bytes = benchmark.memory_bytes,
                  .memory_bytes_per_s = rate * devices * ShareOf(benchmark, cluster),
                  .source =
                      "the measured memory in which the processes compute; copies read and write "
                      "this memory, and memory_bytes is what one process may take"};
}

// The constants of a matmul's time under fit: the rate of long products in fp32 and in bf16, and
// the inner dimension that halves it.
enum MatmulConstant { kFp32Rate, kBf16Rate, kHalfK };

ClusterSpec WithMatmuls(const ClusterSpec& cluster, const std::vector<double>& constants) {
  ClusterSpec with = cluster;
  with.device.peak_fp32_flops = constants[kFp32Rate];
  with.device.peak_bf16_flops = constants[kBf16Rate];
  with.device.matmul_efficiency = 1.0;
  with.device.matmul_limit = 1.0;
  with.device.matmul_half_k = constants[kHalfK];
  return with;
}

struct MatmulRows {
  std::vector<LogFitRow> rows;
  // The highest rate of one device over all shapes; 0 if none was measured.
  double best_fp32 = 0.0;
  double best_bf16 = 0.0;
};

MatmulRows MatmulRowsOf(const DeviceBenchmark& benchmark, const ClusterSpec& cluster) {
  MatmulRows result;
  const double share = ShareOf(benchmark, cluster);
  for (const MatmulTiming& timing : benchmark.matmuls) {
    // The fp64 rate follows from the fp32 rate.
    if (timing.ranks != benchmark.devices || timing.precision == Precision::kFp64) continue;
    const double seconds = BestSeconds(timing.time);
    double& best = timing.precision == Precision::kFp32 ? result.best_fp32 : result.best_bf16;
    best = std::max(best, timing.Flops() / seconds / share);
    result.rows.push_back(
        {seconds, [&cluster, timing, share](const std::vector<double>& constants) {
           const ClusterSpec with = WithMatmuls(cluster, constants);
           const DeviceShare device{with.device, NumberFormatsOf(timing.precision), share};
           return MatmulTime(device, {timing.m, timing.n, timing.k});
         }});
  }
  return result;
}

// If the device is known, its data sheet's bf16 peak is the reference, otherwise the best fp32
// product: the efficiency is the fitted rate's share of it, and the other peak follows.
void SetPeaks(const MatmulRows& measured, const std::vector<double>& constants,
              const BenchmarkBase& base, HardwareProfile& device) {
  const bool has_fp32 = measured.best_fp32 > 0.0;
  const bool has_bf16 = measured.best_bf16 > 0.0;
  const bool by_bf16 = has_bf16 && (base.same_device || !has_fp32);
  const double peak = by_bf16 ? device.peak_bf16_flops : device.peak_fp32_flops;
  const double best = by_bf16 ? measured.best_bf16 : measured.best_fp32;
  const SplitRate split =
      Split(constants[by_bf16 ? kBf16Rate : kFp32Rate], base.same_device ? peak : best);
  device.matmul_efficiency = split.share;
  device.matmul_limit = std::min(1.0, std::max(split.share, best / split.rate));
  if (has_fp32) device.peak_fp32_flops = constants[kFp32Rate] / split.share;
  if (has_bf16) device.peak_bf16_flops = constants[kBf16Rate] / split.share;
  device.matmul_half_k = constants[kHalfK];
}

absl::StatusOr<LogFitErrors> SetMatmuls(const DeviceBenchmark& benchmark, const BenchmarkBase& base,
                                        ClusterSpec& cluster) {
  const ClusterSpec before = cluster;
  const MatmulRows measured = MatmulRowsOf(benchmark, before);
  if (measured.rows.empty()) {
    return absl::InvalidArgumentError("the benchmark has no matrix product on all devices at once");
  }
  constexpr double kLowest = 1.0;
  constexpr double kHighest = 1e24;
  ASSIGN_OR_RETURN(const std::vector<double> constants,
                   FitLogTimes(measured.rows, {{measured.best_fp32, kLowest, kHighest},
                                               {measured.best_bf16, kLowest, kHighest},
                                               {before.device.matmul_half_k, 1.0, 4096.0}}));
  SetPeaks(measured, constants, base, cluster.device);
  return ErrorsOf(measured.rows, constants);
}

// The constants of a collective's time. Only rings have hops of their own.
enum LinkConstant { kBytesPerS, kBaseLatency, kHopLatency };

ClusterSpec WithLink(const ClusterSpec& cluster, const std::vector<double>& constants) {
  ClusterSpec with = cluster;
  with.scale_up.bytes_per_s = constants[kBytesPerS];
  with.scale_up.efficiency = 1.0;
  with.scale_up.base_latency_s = constants[kBaseLatency];
  if (with.collectives == CollectiveModel::kRing) {
    with.scale_up.hop_latency_s = constants[kHopLatency];
  }
  return with;
}

double PredictedTime(const ClusterSpec& cluster, const CollectiveTiming& timing) {
  const Network network{cluster};
  const RankGroup group(timing.ranks, /*stride=*/1);
  const auto bytes = static_cast<double>(timing.bytes);
  switch (timing.kind) {
    case CollectiveKind::kAllReduce:
      return AllReduceTime(network, group, bytes);
    case CollectiveKind::kAllGather:
      return AllGatherTime(network, group, bytes);
    case CollectiveKind::kReduceScatter:
      return ReduceScatterTime(network, group, bytes);
    case CollectiveKind::kSend:
      return SendTime(network, group, bytes);
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReceive:
      break;  // no benchmark times them
  }
  return 0.0;
}

absl::StatusOr<LogFitErrors> SetLinks(const DeviceBenchmark& benchmark, const BenchmarkBase& base,
                                      ClusterSpec& cluster) {
  const ClusterSpec before = cluster;
  std::vector<LogFitRow> rows;
  double best_bytes_per_s = 0.0;
  double shortest_s = 1.0;
  for (const CollectiveTiming& timing : benchmark.collectives) {
    if (timing.ranks < 2 || timing.ranks > before.devices_per_node) continue;
    const double seconds = BestSeconds(timing.time);
    best_bytes_per_s = std::max(best_bytes_per_s, static_cast<double>(timing.bytes) / seconds);
    shortest_s = std::min(shortest_s, seconds);
    rows.push_back({seconds, [&before, timing](const std::vector<double>& constants) {
                      return PredictedTime(WithLink(before, constants), timing);
                    }});
  }
  if (rows.empty()) return LogFitErrors();
  ASSIGN_OR_RETURN(
      const std::vector<double> constants,
      FitLogTimes(
          rows, {{best_bytes_per_s, 1.0, 1e15}, {shortest_s, 1e-9, 1.0}, {shortest_s, 1e-9, 1.0}}));
  const double data_sheet = base.same_device ? before.scale_up.bytes_per_s : 0.0;
  cluster = WithLink(before, constants);
  cluster.unmeasured.Remove(ClusterPart::kLinksInside);
  const SplitRate split = Split(constants[kBytesPerS], data_sheet);
  cluster.scale_up.bytes_per_s = split.rate;
  cluster.scale_up.efficiency = split.share;
  return ErrorsOf(rows, constants);
}

std::string OffBy(const LogFitErrors& errors) {
  return absl::StrFormat("%.0f %% off in the median, %.0f %% at worst", 100.0 * errors.median,
                         100.0 * errors.worst);
}

std::string SourceOf(const DeviceBenchmark& benchmark, const BenchmarkBase& base,
                     const BenchmarkedCluster& made) {
  std::string source = absl::StrCat("measured on ", benchmark.host, " (", benchmark.devices, " x ",
                                    benchmark.device_name);
  if (SharesCores(benchmark.device_kind())) {
    absl::StrAppend(&source, " on ", benchmark.physical_cores, " cores");
  }
  absl::StrAppend(&source, ") on ", benchmark.date, " with worker ", benchmark.worker_version,
                  ": memory bandwidth, matmuls (", OffBy(made.matmuls), ")");
  if (made.collectives.rows > 0) {
    absl::StrAppend(&source, ", links inside the host (", OffBy(made.collectives), ")");
  }
  const bool other_gpu = benchmark.device_kind() == DeviceKind::kCuda && !base.same_device;
  absl::StrAppend(&source, "; not measured, from ", base.cluster.name,
                  other_gpu ? ", which describes another device" : "", ": attention, ",
                  made.collectives.rows > 0 ? "links between hosts" : "all links",
                  ", spread of step times");
  return source;
}

int64_t MemoryDistance(const DeviceBenchmark& benchmark, const ClusterSpec& cluster) {
  return std::abs(benchmark.memory_bytes - cluster.device.memory_bytes);
}

// Returns whether the text contains the words; "RTX A4000" does not contain "A40".
bool ContainsWords(const std::string& text, const std::string& words) {
  const auto is_border = [&](size_t place) {
    return place >= text.size() || !absl::ascii_isalnum(static_cast<unsigned char>(text[place]));
  };
  for (size_t at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) {
    if ((at == 0 || is_border(at - 1)) && is_border(at + words.size())) return true;
  }
  return false;
}

// Returns the length of the longest of the cluster's GPU names that the device's name contains.
size_t LongestNameWithin(const std::string& device, const ClusterSpec& cluster) {
  const std::string lower = absl::AsciiStrToLower(device);
  size_t longest = 0;
  for (const std::string& name : cluster.gpu_names) {
    if (ContainsWords(lower, absl::AsciiStrToLower(name))) {
      longest = std::max(longest, name.size());
    }
  }
  return longest;
}

}  // namespace

absl::StatusOr<BenchmarkBase> BaseFor(const DeviceBenchmark& benchmark,
                                      const std::vector<ClusterSpec>& known) {
  const ClusterSpec* best = nullptr;
  size_t best_name = 0;
  for (const ClusterSpec& cluster : known) {
    if (cluster.device_kind() != benchmark.device_kind()) continue;
    const size_t name = LongestNameWithin(benchmark.device_name, cluster);
    const bool nearer = best == nullptr || name > best_name ||
                        (name == best_name &&
                         MemoryDistance(benchmark, cluster) < MemoryDistance(benchmark, *best));
    if (!nearer) continue;
    best = &cluster;
    best_name = name;
  }
  if (best == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no cluster is known that is anything like ", benchmark.device_name));
  }
  return BenchmarkBase{*best, best_name > 0};
}

absl::StatusOr<BenchmarkedCluster> ClusterFromBenchmark(const DeviceBenchmark& benchmark,
                                                        const BenchmarkBase& base,
                                                        const std::string& name) {
  RETURN_IF_ERROR(CheckRange("devices", benchmark.devices, 1, 1 << 16));
  BenchmarkedCluster made{base.cluster, {}, {}};
  made.cluster.name = name;
  SetIdentity(benchmark, base, made.cluster);
  RETURN_IF_ERROR(SetMemory(benchmark, base, made.cluster));
  if (SharesCores(benchmark.device_kind())) SetHostOfCores(benchmark, made.cluster);
  ASSIGN_OR_RETURN(made.matmuls, SetMatmuls(benchmark, base, made.cluster));
  ASSIGN_OR_RETURN(made.collectives, SetLinks(benchmark, base, made.cluster));
  made.cluster.source = SourceOf(benchmark, base, made);
  RETURN_IF_ERROR(Validate(made.cluster));
  return made;
}

}  // namespace meshwright::planner

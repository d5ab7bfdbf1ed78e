#include "planner/calibration/cluster_from_benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "planner/catalog/catalog.h"
#include "planner/cost/collective.h"
#include "planner/cost/operators.h"
#include "tests/planner/data_sheet_clusters.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kExact = 2e-3;  // relative

testing::AssertionResult Near(double value, double truth, double share = kExact) {
  if (std::abs(value / truth - 1.0) <= share) return testing::AssertionSuccess();
  return testing::AssertionFailure() << value << " instead of " << truth;
}

Timing Exactly(double seconds) { return {.median_s = 1.5 * seconds, .best_s = seconds}; }

void AddMatmuls(const ClusterSpec& truth, int64_t unit, DeviceBenchmark& benchmark) {
  const double share = ThroughputShare(truth, benchmark.devices);
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    for (const int64_t k : {unit / 4, unit, 4 * unit}) {
      const double seconds =
          MatmulTime({truth.device, NumberFormatsOf(precision), share}, {8 * unit, 8 * unit, k});
      benchmark.matmuls.push_back({.precision = precision,
                                   .m = 8 * unit,
                                   .n = 8 * unit,
                                   .k = k,
                                   .ranks = benchmark.devices,
                                   .time = Exactly(seconds)});
    }
  }
}

void AddCollectives(const ClusterSpec& truth, int32_t ranks, DeviceBenchmark& benchmark) {
  const Network network{truth};
  const RankGroup group(ranks, 1);
  const int32_t groups = benchmark.devices / ranks;
  for (int64_t bytes = 1 << 10; bytes <= 64 << 20; bytes *= 4) {
    const auto size = static_cast<double>(bytes);
    const auto add = [&](CollectiveKind kind, double seconds) {
      benchmark.collectives.push_back({kind, bytes, ranks, groups, Exactly(seconds)});
    };
    add(CollectiveKind::kAllReduce, AllReduceTime(network, group, size));
    add(CollectiveKind::kAllGather, AllGatherTime(network, group, size));
    add(CollectiveKind::kReduceScatter, ReduceScatterTime(network, group, size));
    if (ranks == 2) add(CollectiveKind::kSend, SendTime(network, group, size));
  }
}

// What a benchmark of a host of `truth` measures where the cost model is right.
DeviceBenchmark Measure(const ClusterSpec& truth, int32_t devices, int64_t matmul_unit) {
  DeviceBenchmark benchmark{.host = "node7",
                            .worker_version = "1.2",
                            .date = "2026-11-21",
                            .device_name = truth.device.name,
                            .devices = devices,
                            .physical_cores = truth.physical_cores,
                            .memory_bytes = truth.device.memory_bytes,
                            .compute_units = truth.device.compute_units,
                            .matmuls = {},
                            .copies = {},
                            .collectives = {}};
  AddMatmuls(truth, matmul_unit, benchmark);
  const double rate = truth.device.memory_bytes_per_s * truth.device.memory_efficiency *
                      ThroughputShare(truth, devices);
  benchmark.copies = {{4, devices, Exactly(truth.device.kernel_launch_s)},
                      {1 << 20, devices, Exactly(0.1 * (1 << 20) / rate)},  // in a cache
                      {64 << 20, devices, Exactly(2.0 * (64 << 20) / rate)},
                      {64 << 20, 1, Exactly(1.0 * (64 << 20) / rate)}};
  if (devices > 1) AddCollectives(truth, devices, benchmark);
  if (devices > 2) AddCollectives(truth, 2, benchmark);
  return benchmark;
}

ClusterSpec SomeCores() {
  ClusterSpec truth = FindCluster("local-cpu", 3).value();
  truth.device.name = "Some Processor";
  truth.device.peak_fp32_flops = 80e9;
  truth.device.peak_bf16_flops = 30e9;
  truth.device.matmul_efficiency = 0.9;
  truth.device.matmul_half_k = 40.0;
  truth.device.memory_bytes_per_s = 12e9;
  truth.device.memory_efficiency = 1.0;
  truth.device.kernel_launch_s = 6e-7;
  truth.device.memory_bytes = int64_t{3} << 30;
  truth.scale_up = {
      .bytes_per_s = 3e9, .efficiency = 0.5, .hop_latency_s = 7e-5, .base_latency_s = 2e-5};
  return truth;
}

BenchmarkBase CoresBase() { return {FindCluster("local-cpu", 3).value(), false}; }

TEST(ClusterFromBenchmark, RecoversTheConstantsOfCores) {
  const ClusterSpec truth = SomeCores();
  const auto made = ClusterFromBenchmark(Measure(truth, 4, 128), CoresBase(), "here");
  ASSERT_TRUE(made.ok()) << made.status();
  const ClusterSpec& cluster = made->cluster;
  const HardwareProfile& device = cluster.device;
  EXPECT_EQ(cluster.name, "here");
  EXPECT_EQ(cluster.physical_cores, 3);
  EXPECT_EQ(device.memory_bytes, truth.device.memory_bytes);
  EXPECT_TRUE(Near(device.peak_fp32_flops * device.matmul_efficiency, 72e9));
  EXPECT_TRUE(Near(device.peak_bf16_flops * device.matmul_efficiency, 27e9));
  EXPECT_TRUE(Near(device.matmul_half_k, 40.0));
  EXPECT_TRUE(Near(device.memory_bytes_per_s * device.memory_efficiency, 12e9));
  EXPECT_TRUE(Near(device.kernel_launch_s, 6e-7));
  EXPECT_TRUE(Near(cluster.scale_up.AchievedBytesPerS(), 1.5e9));
  EXPECT_TRUE(Near(cluster.scale_up.hop_latency_s, 7e-5));
  EXPECT_TRUE(Near(cluster.scale_up.base_latency_s, 2e-5));
  EXPECT_EQ(cluster.scale_out, CoresBase().cluster.scale_out);
  EXPECT_LT(made->matmuls.worst, kExact);
  EXPECT_LT(made->collectives.worst, kExact);
  EXPECT_GT(made->collectives.rows, 50);
}

TEST(ClusterFromBenchmark, RecoversSharesOfADataSheetWithNccl) {
  ClusterSpec truth = FindCluster("h100", 1).value();
  truth.device.matmul_efficiency = 0.61;
  truth.device.peak_fp32_flops = 51e12;
  truth.device.memory_efficiency = 0.9;
  truth.scale_up.efficiency = 0.7;
  truth.scale_up.base_latency_s = 2e-5;
  const BenchmarkBase base{FindCluster("h100", 1).value(), true};
  const auto made = ClusterFromBenchmark(Measure(truth, 8, 2048), base, "h100-here");
  ASSERT_TRUE(made.ok()) << made.status();
  const HardwareProfile& device = made->cluster.device;
  EXPECT_EQ(device.peak_bf16_flops, base.cluster.device.peak_bf16_flops);
  EXPECT_EQ(device.memory_bytes_per_s, base.cluster.device.memory_bytes_per_s);
  EXPECT_EQ(made->cluster.scale_up.bytes_per_s, base.cluster.scale_up.bytes_per_s);
  EXPECT_TRUE(Near(device.matmul_efficiency, 0.61));
  EXPECT_TRUE(Near(device.peak_fp32_flops, 51e12));
  EXPECT_TRUE(Near(device.memory_efficiency, 0.9));
  EXPECT_TRUE(Near(made->cluster.scale_up.efficiency, 0.7));
  EXPECT_TRUE(Near(made->cluster.scale_up.base_latency_s, 2e-5));
  EXPECT_LT(made->collectives.worst, kExact);
  EXPECT_EQ(made->cluster.calibration, Calibration());
  EXPECT_EQ(made->cluster.calibrated_from, "h100");
}

TEST(ClusterFromBenchmark, SaysOnWhichMachineItWasMeasured) {
  DeviceBenchmark benchmark = Measure(FindCluster("h100", 1).value(), 8, 2048);
  benchmark.device_name = "NVIDIA H100 80GB HBM3";
  benchmark.machine = {
      .driver = "580.82.07", .cuda = "13.0", .nccl = "2.28.9", .host_cpu = "Some Processor"};
  const BenchmarkBase base{FindCluster("h100:8x4,ib=200Gb,link=60GB", 1).value(), true};
  const ClusterSpec cluster = ClusterFromBenchmark(benchmark, base, "here")->cluster;
  EXPECT_EQ(cluster.fingerprint.device, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(cluster.fingerprint.machine, benchmark.machine);
  EXPECT_EQ(cluster.fingerprint.date, "2026-11-21");
  EXPECT_EQ(cluster.fingerprint.command, "meshwright benchmark --devices cuda:8");
  // The links inside the host are measured now, and those between hosts are not.
  EXPECT_EQ(cluster.unmeasured, EnumSet<ClusterPart>({ClusterPart::kLinksBetween}));
  EXPECT_EQ(ClusterFromJson(ClusterToJson(cluster), 1).value(), cluster);
}

TEST(BaseFor, ANameInsideAnotherWordIsAnotherDevice) {
  DeviceBenchmark benchmark = Measure(FindCluster("a40", 1).value(), 1, 2048);
  benchmark.device_name = "NVIDIA RTX A4000";
  const std::vector<ClusterSpec> known = {FindCluster("a40", 1).value()};
  EXPECT_FALSE(BaseFor(benchmark, known)->same_device);
  benchmark.device_name = "NVIDIA A40";
  EXPECT_TRUE(BaseFor(benchmark, known)->same_device);
}

TEST(ClusterFromBenchmark, OneDisturbedMeasurementCountsAsOne) {
  DeviceBenchmark benchmark = Measure(SomeCores(), 4, 128);
  benchmark.collectives[20].time.best_s *= 20.0;
  benchmark.matmuls[1].time.best_s *= 5.0;
  const auto made = ClusterFromBenchmark(benchmark, CoresBase(), "here");
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(Near(made->cluster.scale_up.AchievedBytesPerS(), 1.5e9, 0.1));
  EXPECT_TRUE(Near(made->cluster.scale_up.hop_latency_s, 7e-5, 0.1));
  EXPECT_LT(made->collectives.median, 0.05);
  EXPECT_GT(made->collectives.worst, 0.5);
}

TEST(ClusterFromBenchmark, ASlowLinkIsNotAShareOfAnotherOne) {
  ClusterSpec truth = FindCluster("h100", 1).value();
  truth.scale_up = {.bytes_per_s = 20e9, .efficiency = 1.0, .base_latency_s = 1e-5};
  const BenchmarkBase base{FindCluster("h100", 1).value(), true};
  const auto made = ClusterFromBenchmark(Measure(truth, 2, 2048), base, "pcie");
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(Near(made->cluster.scale_up.bytes_per_s, 20e9));
  EXPECT_EQ(made->cluster.scale_up.efficiency, 1.0);
  EXPECT_EQ(made->cluster.devices_per_node, 2);
}

TEST(ClusterFromBenchmark, OneDeviceKeepsTheLinksOfItsBase) {
  const ClusterSpec truth = FindCluster("h200", 1).value();
  const auto made = ClusterFromBenchmark(Measure(truth, 1, 2048), {truth, true}, "one");
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->cluster.scale_up, truth.scale_up);
  EXPECT_EQ(made->collectives.rows, 0);
  EXPECT_THAT(made->cluster.source, HasSubstr("not measured, from h200: attention, all links"));
}

TEST(ClusterFromBenchmark, SaysWhereItWasMeasuredAndSurvivesJson) {
  const auto made = ClusterFromBenchmark(Measure(SomeCores(), 4, 128), CoresBase(), "here");
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_THAT(made->cluster.source,
              HasSubstr("measured on node7 (4 x Some Processor on 3 cores) on 2026-11-21 with "
                        "worker 1.2"));
  EXPECT_THAT(made->cluster.source, HasSubstr("from local-cpu: attention, links between hosts"));
  EXPECT_THAT(made->cluster.source, Not(HasSubstr("another device")));
  const auto read = ClusterFromJson(ClusterToJson(made->cluster), 99);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, made->cluster);
}

// Offloading there moves bytes inside the memory that was measured.
TEST(ClusterFromBenchmark, TheHostOfCoresIsTheirMemory) {
  const auto made = ClusterFromBenchmark(Measure(SomeCores(), 4, 128), CoresBase(), "here");
  ASSERT_TRUE(made.ok()) << made.status();
  const HardwareProfile& device = made->cluster.device;
  const HostProfile& host = made->cluster.host;
  EXPECT_DOUBLE_EQ(host.link_bytes_per_s,
                   device.memory_bytes_per_s * device.memory_efficiency / 2.0);
  EXPECT_GE(host.memory_bytes_per_s, 2.0 * host.link_bytes_per_s);
  EXPECT_GT(host.memory_bytes, 0);
}

TEST(ClusterFromBenchmark, NeedsAProductAndACopyOfAllDevices) {
  DeviceBenchmark benchmark = Measure(SomeCores(), 4, 128);
  for (MatmulTiming& matmul : benchmark.matmuls) matmul.ranks = 1;
  auto made = ClusterFromBenchmark(benchmark, CoresBase(), "here");
  EXPECT_TRUE(absl::IsInvalidArgument(made.status()));
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("matrix product"));
  benchmark.copies.resize(1);
  made = ClusterFromBenchmark(benchmark, CoresBase(), "here");
  EXPECT_TRUE(absl::IsInvalidArgument(made.status()));
  EXPECT_THAT(std::string(made.status().message()), HasSubstr("copy"));
}

std::vector<ClusterSpec> AllPresets() {
  std::vector<ClusterSpec> clusters;
  for (const std::string& name : ClusterNames()) clusters.push_back(*FindCluster(name, 2));
  return clusters;
}

BenchmarkBase BaseOf(const std::string& device, int64_t memory_gib) {
  DeviceBenchmark benchmark;
  benchmark.device_name = device;
  benchmark.memory_bytes = memory_gib << 30;
  return BaseFor(benchmark, AllPresets()).value();
}

TEST(BaseFor, FindsTheDeviceByItsDriversName) {
  EXPECT_EQ(BaseOf("NVIDIA H100 80GB HBM3", 79).cluster.name, "h100");
  EXPECT_EQ(BaseOf("NVIDIA A100-SXM4-40GB", 39).cluster.name, "a100-40");
  EXPECT_EQ(BaseOf("NVIDIA A100-SXM4-80GB", 79).cluster.name, "a100-80");
  EXPECT_EQ(BaseOf("NVIDIA GB200", 185).cluster.name, "gb200");
  EXPECT_TRUE(BaseOf("NVIDIA H200", 140).same_device);
  EXPECT_FALSE(BaseOf("NVIDIA Something Else", 140).same_device);
  EXPECT_EQ(BaseOf("NVIDIA Something Else", 48).cluster.physical_cores, 0);
}

TEST(BaseFor, CoresAreLocalCpu) {
  DeviceBenchmark benchmark = Measure(SomeCores(), 2, 128);
  const auto base = BaseFor(benchmark, AllPresets());
  ASSERT_TRUE(base.ok());
  EXPECT_EQ(base->cluster.name, "local-cpu");
  EXPECT_TRUE(absl::IsNotFound(BaseFor(benchmark, {}).status()));
}

}  // namespace
}  // namespace meshwright::planner

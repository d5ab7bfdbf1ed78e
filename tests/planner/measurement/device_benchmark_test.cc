#include "planner/measurement/device_benchmark.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

DeviceBenchmark SomeBenchmark() {
  return {.host = "node7",
          .worker_version = "1.2",
          .date = "2026-11-21",
          .device_name = "Some Processor",
          .devices = 4,
          .physical_cores = 2,
          .memory_bytes = int64_t{3} << 30,
          .compute_units = 1,
          .matmuls = {{Precision::kBf16, 64, 32, 16, 4, {0.125, 0.0625}}},
          .copies = {{1 << 20, 1, {0.5, 0.25}}},
          .collectives = {{CollectiveKind::kSend, 1024, 2, 2, {1e-4, 5e-5}},
                          {CollectiveKind::kReduceScatter, 4096, 4, 1, {2e-4, 1e-4}}}};
}

TEST(DeviceBenchmarkJson, RoundTrips) {
  const DeviceBenchmark benchmark = SomeBenchmark();
  const auto read = DeviceBenchmarkFromJson(nlohmann::json::parse(ToJson(benchmark).dump()));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, benchmark);
}

TEST(DeviceBenchmarkJson, ProblemNamesTheKey) {
  const auto problem = [](const char* pointer, const nlohmann::json& value) {
    nlohmann::json json = ToJson(SomeBenchmark());
    json[nlohmann::json::json_pointer(pointer)] = value;
    return std::string(DeviceBenchmarkFromJson(json).status().message());
  };
  EXPECT_THAT(problem("/devices", 0), HasSubstr("devices = 0"));
  EXPECT_THAT(problem("/physical_cores", -1), HasSubstr("physical_cores = -1"));
  EXPECT_THAT(problem("/copies", 7), HasSubstr("copies"));
  EXPECT_THAT(problem("/copies/0", "fast"), HasSubstr("copies"));
  EXPECT_THAT(problem("/copies/0/best_s", 0.0), HasSubstr("best_s = 0"));
  EXPECT_THAT(problem("/matmuls/0/dtype", "int8"), HasSubstr("int8"));
  EXPECT_THAT(problem("/collectives/0/kind", "gossip"), HasSubstr("kind = gossip"));
  EXPECT_THAT(problem("/collectives/1/bytes", nullptr), HasSubstr("bytes"));
  EXPECT_FALSE(DeviceBenchmarkFromJson(nlohmann::json::array()).ok());
}

}  // namespace
}  // namespace meshwright::planner

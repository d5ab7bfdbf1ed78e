#include "executor/trial/benchmark_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/trial/rank_events.h"

namespace meshwright::trial {
namespace {

using testing::HasSubstr;

planner::MatmulTiming SomeMatmul() {
  return {.precision = planner::Precision::kBf16,
          .m = 2,
          .n = 3,
          .k = 4,
          .ranks = 2,
          .time = {.median_s = 0.5, .best_s = 0.25}};
}

TEST(BenchmarkEvents, ComeBackFromTheirJson) {
  MeasuredEvent measured{.done = 1, .cases = 3};
  measured.matmul = SomeMatmul();
  MeasuredEvent copied{.done = 2, .cases = 3};
  copied.copy = planner::CopyTiming{.bytes = 8, .ranks = 1, .time = {0.5, 0.25}};
  MeasuredEvent sent{.done = 3, .cases = 3};
  sent.collective = planner::CollectiveTiming{.kind = planner::CollectiveKind::kSend,
                                              .bytes = 8,
                                              .ranks = 2,
                                              .groups = 4,
                                              .time = {0.5, 0.25}};
  const BenchmarkEvent events[] = {
      DeviceEvent{.name = "cpu", .memory_bytes = 1, .compute_units = 2, .physical_cores = 3},
      measured,
      copied,
      sent,
      MeasuredEvent{.done = 3, .cases = 3},
      AliveEvent{.done = 1, .cases = 3},
      BenchmarkDoneEvent()};
  for (const BenchmarkEvent& event : events) {
    EXPECT_EQ(*BenchmarkEventFromJson(ToJson(event)), event) << ToJson(event);
  }
}

TEST(BenchmarkEvents, HaveTheKeysThatWorkersAlwaysWrote) {
  MeasuredEvent measured{.done = 1, .cases = 3};
  measured.matmul = SomeMatmul();
  EXPECT_EQ(ToJson(BenchmarkEvent(measured)).dump(),
            R"({"cases":3,"done":1,"event":"measured","matmul":{"best_s":0.25,"dtype":"bf16",)"
            R"("k":4,"m":2,"median_s":0.5,"n":3,"ranks":2}})");
  EXPECT_EQ(ToJson(BenchmarkEvent(BenchmarkDoneEvent())).dump(), R"({"event":"benchmark_done"})");
}

TEST(BenchmarkEvents, AKeyThatIsMissingIsNamedAndAnotherKindIsNothing) {
  nlohmann::json device = ToJson(BenchmarkEvent(DeviceEvent{.name = "cpu"}));
  device.erase("memory_bytes");
  EXPECT_THAT(std::string(BenchmarkEventFromJson(device).status().message()),
              HasSubstr("memory_bytes = (absent)"));
  EXPECT_EQ(*BenchmarkEventFromJson(ToJson(RankEvent(HelloEvent{.pid = 1}))), BenchmarkEvent());
}

}  // namespace
}  // namespace meshwright::trial

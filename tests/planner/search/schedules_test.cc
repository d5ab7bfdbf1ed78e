// The search's rules and the schedule generators agree on which layouts have a schedule.
#include <gtest/gtest.h>

#include "planner/schedule/check.h"
#include "planner/search/rules.h"
#include "tests/planner/schedule/pipelines.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

constexpr int32_t kGlobalBatch = 48;

// Calls visit(layout) for all schedules, ranks and chunks that divide 32 layers, and micro-batches.
template <typename Visit>
void ForEachLayout(const Visit& visit) {
  for (const ScheduleKind schedule : kAllSchedules) {
    for (int32_t pp = 1; pp <= 32; pp *= 2) {
      for (int32_t vpp = 1; pp * vpp <= 32; vpp *= 2) {
        for (const int32_t dp : {1, 2, 3}) {
          for (const int32_t micro_batch : {1, 2, 4}) {
            Layout layout = Pipeline(schedule, pp, vpp);
            layout.dp = dp;
            layout.micro_batch = micro_batch;
            visit(layout);
          }
        }
      }
    }
  }
}

TEST(SchedulesOfTheSpace, ExistExactlyWhereTheRulesSayAndNeverDeadlock) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 4096, kGlobalBatch);
  int accepted = 0;
  int without_framework = 0;
  int refused = 0;
  ForEachLayout([&](const Layout& layout) {
    const auto violation = CheckLayout(context.get(), layout.devices(), layout);
    const auto m = static_cast<int32_t>(layout.MicroBatches(kGlobalBatch));
    const std::string name = FormatLayout(layout);
    if (violation &&
        (violation->rule == Rule::kScheduleChunks || violation->rule == Rule::kInterleaveBatches)) {
      EXPECT_FALSE(CheckScheduleExists(layout, m).ok()) << name;
      ++refused;
      return;
    }
    // A framework that lacks a schedule says nothing about the schedule itself.
    if (violation && violation->rule != Rule::kProfile) return;
    const auto lists = MakeSchedules(layout, m);
    ASSERT_TRUE(lists.ok()) << name << ": " << lists.status();
    const absl::Status status = CheckSchedule(layout, m, *lists);
    EXPECT_TRUE(status.ok()) << name << ": " << status;
    ++(violation ? without_framework : accepted);
  });
  EXPECT_GT(accepted, 150);
  EXPECT_GT(without_framework, 200);
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace meshwright::planner

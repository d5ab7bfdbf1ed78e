// The rules and the lists of actions agree on which layouts have a schedule, over the whole of a
// small space.
#include <gtest/gtest.h>

#include <set>

#include "planner/rules/rule_list.h"
#include "planner/schedule/check.h"
#include "tests/planner/schedule/pipelines.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

constexpr int32_t kMostRanks = 6;
constexpr int32_t kMostChunks = 4;
constexpr int32_t kMostMicroBatches = 14;

// Every schedule with up to that many tensor-parallel and pipeline ranks, chunks and micro-batches.
template <typename Visit>
void ForEachPoint(const Visit& visit) {
  for (const ScheduleKind schedule : kAllSchedules) {
    for (int32_t pp = 1; pp <= kMostRanks; ++pp) {
      for (int32_t vpp = 1; vpp <= kMostChunks; ++vpp) {
        for (int32_t m = 1; m <= kMostMicroBatches; ++m) {
          for (const int32_t tp : {1, 2}) {
            Layout layout = Pipeline(schedule, pp, vpp);
            layout.tp = tp;
            visit(layout, m);
          }
        }
      }
    }
  }
}

bool IsAboutSchedules(Rule rule) {
  return rule == Rule::kScheduleChunks || rule == Rule::kInterleaveBatches ||
         rule == Rule::kZeroBubbleBatches;
}

TEST(SchedulesOfTheSpace, ExistExactlyWhereTheRulesSayAndNeverDeadlock) {
  TestContext context = MakeContext("llama-3-8b", "h100", 4096, 1, "meshwright");
  context.model.groups.front().count = 720;  // every pp * vpp divides them
  context.model.vocab = 720 * 128;           // and so do tp * pp ranks the vocabulary
  Supports& has = context.profile.supports;
  has.has_zb_h2 = has.has_v_half = has.has_vocab_parallel = true;
  int accepted = 0;
  std::set<Rule> refusing;
  ForEachPoint([&](const Layout& layout, int32_t m) {
    context.training.global_batch = m;
    const auto violation = CheckLayout(context.get(), layout.devices(), layout);
    const std::string name = Name(layout, m);
    ASSERT_EQ(violation.has_value(), !CheckScheduleExists(layout, m).ok()) << name;
    const auto lists = MakeSchedules(layout, m);
    ASSERT_EQ(violation.has_value(), !lists.ok()) << name;
    if (violation) {
      EXPECT_TRUE(IsAboutSchedules(violation->rule)) << name << ": " << Describe(*violation);
      refusing.insert(violation->rule);
      return;
    }
    const absl::Status status = CheckSchedule(layout, m, *lists);
    EXPECT_TRUE(status.ok()) << name << ": " << status;
    ++accepted;
  });
  EXPECT_GT(accepted, 1000);
  EXPECT_EQ(refusing.size(), 3u);
}

}  // namespace
}  // namespace meshwright::planner

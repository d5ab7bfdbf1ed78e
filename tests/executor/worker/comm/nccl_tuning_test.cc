#include "executor/worker/cuda/nccl_tuning.h"

#include <gtest/gtest.h>

namespace meshwright::worker {
namespace {

TEST(NcclTuningTest, MessagesGetFewSmsAndCollectivesAsManyAsNcclWants) {
  EXPECT_FALSE(NcclTuningOf(Traffic::kCollectives).max_ctas.has_value());
  const std::optional<int> ctas = NcclTuningOf(Traffic::kMessages).max_ctas;
  ASSERT_TRUE(ctas.has_value());
  EXPECT_GE(*ctas, 1);
  EXPECT_LE(*ctas, 8);
}

TEST(NcclTuningTest, NoGroupWaitsBehindComputation) {
  for (const Traffic traffic : {Traffic::kCollectives, Traffic::kMessages}) {
    EXPECT_TRUE(NcclTuningOf(traffic).high_priority);
  }
}

}  // namespace
}  // namespace meshwright::worker

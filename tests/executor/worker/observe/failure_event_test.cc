#include "executor/worker/observe/failure_event.h"

#include <gtest/gtest.h>

#include "executor/trial/rank_record.h"
#include "executor/worker/comm/communicator.h"

namespace meshwright::worker {
namespace {

trial::RankRecord RecordOf(const std::exception& error,
                           const std::optional<MemoryShortage>& shortage) {
  trial::RankRecord record;
  trial::ApplyEvent(ToJson(FailureEvent(error, shortage, /*pipeline_rank=*/3)).dump(), record);
  return record;
}

TEST(FailureEventTest, MemoryThatACommunicatorLacksIsAnOutOfMemory) {
  const CommunicationError error("connect: Failed to CUDA calloc 10 bytes");
  const trial::RankRecord record =
      RecordOf(error, MemoryShortage{.requested_bytes = 10, .held_bytes = 95, .limit_bytes = 100});
  ASSERT_TRUE(record.oom.has_value());
  EXPECT_EQ(record.oom->pipeline_rank, 3);
  EXPECT_EQ(record.oom->requested_bytes, 10);
  EXPECT_EQ(record.oom->held_bytes, 95);
  EXPECT_EQ(record.oom->limit_bytes, 100);
  EXPECT_EQ(record.failure->kind, trial::FailureKind::kOutOfMemory);
}

TEST(FailureEventTest, OtherErrorsOfACommunicatorAreLostPeers) {
  const trial::RankRecord record = RecordOf(CommunicationError("peer gone"), std::nullopt);
  EXPECT_EQ(record.failure->kind, trial::FailureKind::kCommunication);
  EXPECT_EQ(record.failure->message, "failed: peer gone");
}

TEST(FailureEventTest, AnyOtherErrorIsTheRanksOwn) {
  const trial::RankRecord record = RecordOf(std::runtime_error("no such thing"), std::nullopt);
  EXPECT_EQ(record.failure->kind, trial::FailureKind::kOwn);
}

}  // namespace
}  // namespace meshwright::worker

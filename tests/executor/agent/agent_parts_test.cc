// The agent's back-off, its kept results, and its devices.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "executor/agent/backoff.h"
#include "executor/agent/result_box.h"
#include "gtest/gtest.h"

namespace meshwright {
namespace {

TEST(BackoffTest, GrowsToACap) {
  EXPECT_EQ(BackoffDelay(1, 1.0), absl::Milliseconds(200));
  EXPECT_EQ(BackoffDelay(3, 1.0), absl::Milliseconds(800));
  EXPECT_EQ(BackoffDelay(1000, 1.0), absl::Seconds(5));
  EXPECT_EQ(BackoffDelay(1000, 0.0), absl::Milliseconds(2500));
}

KeptResult Kept(int32_t trial) {
  KeptResult kept;
  kept.store_id = "store";
  kept.key = {"s", trial, 1};
  kept.result.outcome = Outcome::kOk;
  kept.result.mfu = 0.5;
  return kept;
}

class ResultBoxTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/box-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(ResultBoxTest, OutlivesTheProcess) {
  ResultBox box = *ResultBox::Open(folder_);
  ASSERT_TRUE(box.Add(Kept(1)).ok());
  ASSERT_TRUE(box.Add(Kept(2)).ok());
  box.Remove("store", {"s", 1, 1});
  const ResultBox next = *ResultBox::Open(folder_);
  ASSERT_EQ(next.kept().size(), 1u);
  EXPECT_EQ(next.kept()[0].key, (AttemptKey{"s", 2, 1}));
  EXPECT_EQ(next.kept()[0].result, Kept(2).result);
}

TEST_F(ResultBoxTest, LeavesForeignFilesAlone) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ + "/notes.json") << "{ not json";
  std::ofstream(folder_ + "/half.json.1.tmp") << "{";
  EXPECT_TRUE(ResultBox::Open(folder_)->kept().empty());
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/notes.json"));
}

TEST_F(ResultBoxTest, KeepsInMemoryWhatItCantWrite) {
  ResultBox box = *ResultBox::Open(folder_);
  std::filesystem::remove_all(folder_);
  EXPECT_TRUE(absl::IsUnavailable(box.Add(Kept(1))));
  EXPECT_EQ(box.kept().size(), 1u);
}

TEST(ResultBoxMemoryTest, NeedsNoFolder) {
  ResultBox box = *ResultBox::Open("");
  EXPECT_TRUE(box.Add(Kept(1)).ok());
  box.Remove("store", {"s", 1, 1});
  EXPECT_TRUE(box.kept().empty());
}

}  // namespace
}  // namespace meshwright

// Copies of a store that is written meanwhile, and what is left of one that was compacted.
#include "db/maintenance.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "db/check.h"
#include "db/sqlite_store.h"
#include "db/store_lock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/db/store_records.h"

namespace meshwright::db {
namespace {

using ::testing::HasSubstr;

class MaintenanceTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/maintenance-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/sweeps.db";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  std::string path_;
};

TEST_F(MaintenanceTest, ACopyIsWholeThoughTheStoreIsWrittenMeanwhile) {
  const auto store = *SqliteSweepStore::Open(path_);
  ASSERT_TRUE(store->CreateSweep(SomeSweep("first"), SomeTrials(5)).ok());
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i) {
      EXPECT_TRUE(store->CreateSweep(SomeSweep("sweep-" + std::to_string(i)), SomeTrials(5)).ok());
    }
  });
  for (int i = 0; i < 5; ++i) {
    const std::string copy = folder_ + "/copy-" + std::to_string(i) + ".db";
    const auto made = BackUpStore(path_, copy);
    ASSERT_TRUE(made.ok()) << made.status();
    const auto check = CheckStore(copy);
    ASSERT_TRUE(check.ok()) << check.status();
    EXPECT_TRUE(check->ok());
    EXPECT_EQ(check->sweeps, made->sweeps);
    EXPECT_EQ(check->trials, 5 * check->sweeps);
    struct stat file = {};
    ASSERT_EQ(stat(copy.c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 0777, 0600u);
    EXPECT_EQ((*SqliteSweepStore::Open(copy))->StoreId().value(), store->StoreId().value());
  }
  stop = true;
  writer.join();
}

TEST_F(MaintenanceTest, ACopyReplacesNothing) {
  *SqliteSweepStore::Open(path_);
  const std::string kept = folder_ + "/kept";
  std::ofstream(kept) << "mine";
  EXPECT_TRUE(absl::IsAlreadyExists(BackUpStore(path_, kept).status()));
  EXPECT_EQ(std::filesystem::file_size(kept), 4u);
  EXPECT_TRUE(absl::IsNotFound(BackUpStore(folder_ + "/none.db", folder_ + "/x").status()));
  const absl::Status nowhere = BackUpStore(path_, folder_ + "/no/x").status();
  EXPECT_TRUE(absl::IsUnavailable(nowhere) || absl::IsFailedPrecondition(nowhere)) << nowhere;
}

TEST_F(MaintenanceTest, CompactingForgetsWhatNobodyNeeds) {
  {
    const auto store = *SqliteSweepStore::Open(path_);
    SweepRecord other = SomeSweep("other");
    other.cluster = "other";
    other.cluster_json = R"({"name":"other","nodes":7})";
    const int64_t gone = store->CreateSweep(other, SomeTrials(500))->id;
    const int64_t kept = store->CreateSweep(SomeSweep("kept"), SomeTrials(3))->id;
    ASSERT_TRUE(store->CancelSweep(gone, "so", At(1), "").ok());
    ASSERT_TRUE(store->DeleteSweep(gone, At(9), "").ok());
    ASSERT_TRUE(
        store->AppendEvent({.sweep_id = kept, .kind = "result_refused", .time = At(9)}).ok());
    ASSERT_TRUE(store->CancelSweep(kept, "so", At(10), "").ok());
  }
  const auto made = CompactStore(path_, At(11));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_LT(made->bytes_after, made->bytes_before);
  EXPECT_EQ(made->events, 1);
  EXPECT_EQ(made->shapes, 1);
  {
    const auto connection = *SqliteConnection::Open(path_, SqliteConnection::Mode::kReadOnly);
    EXPECT_EQ(*connection->QueryInt("SELECT count(*) FROM layouts"), 3);
    EXPECT_EQ(*connection->QueryInt("SELECT count(*) FROM settings"), 1);
    EXPECT_EQ(*connection->QueryInt("SELECT count(*) FROM training_options"), 1);
  }
  const auto store = *SqliteSweepStore::Open(path_);
  EXPECT_EQ(store->GetSweep("kept")->trial_counts[TrialState::kCancelled], 3);
  EXPECT_EQ(store->GetSweep("kept")->cluster_json, SomeSweep("kept").cluster_json);
  EXPECT_EQ(CompactStore(path_, std::nullopt)->events, 0);
}

TEST_F(MaintenanceTest, ADatabaseThatIsServedIsNotCompacted) {
  const auto lock = *StoreLock::Take(path_);
  *SqliteSweepStore::Open(path_);
  const absl::Status status = CompactStore(path_, std::nullopt).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("in use by another server"));
}

}  // namespace
}  // namespace meshwright::db

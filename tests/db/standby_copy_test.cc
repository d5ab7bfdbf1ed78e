// A copy that follows a store change by change: what it has is what the store has.
#include "db/standby_copy.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "db/sqlite_store.h"
#include "db/store_lock.h"
#include "db/token_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/db/store_records.h"

namespace meshwright::db {
namespace {

using ::testing::HasSubstr;

class StandbyCopyTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/standby-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    store_ = *SqliteSweepStore::Open(path());
    copy_ = *StandbyCopy::Open(copy_path());
  }
  void TearDown() override {
    copy_.reset();
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  std::string path() const { return folder_ + "/sweeps.db"; }
  std::string copy_path() const { return folder_ + "/copy.db"; }

  // Captures the store's changes from now on, and gives the copy a snapshot of this moment.
  void Follow() {
    ASSERT_TRUE(store_->changes()
                    ->BeginCapture([this](absl::StatusOr<std::string> changes) {
                      ASSERT_TRUE(changes.ok()) << changes.status();
                      changes_.push_back(*changes);
                    })
                    .ok());
    TakeSnapshot();
  }
  void TakeSnapshot() {
    size_t number = 0;
    auto file = store_->changes()->Snapshot([&] { number = changes_.size(); });
    ASSERT_TRUE(file.ok()) << file.status();
    std::filesystem::copy_file("/proc/self/fd/" + std::to_string(file->get()),
                               copy_->SnapshotPath());
    const absl::Status taken = copy_->TakeSnapshot({"log", static_cast<int64_t>(number)});
    ASSERT_TRUE(taken.ok()) << taken;
  }
  // Applies the changes that the copy lacks.
  absl::Status CatchUp() {
    while (copy_->place().number < static_cast<int64_t>(changes_.size())) {
      const int64_t next = copy_->place().number + 1;
      absl::Status applied = copy_->Apply(next, changes_[static_cast<size_t>(next - 1)]);
      if (!applied.ok()) return applied;
    }
    return absl::OkStatus();
  }
  // All rows of all tables, as text.
  static std::vector<std::string> Rows(const std::string& path) {
    auto connection = *SqliteConnection::Open(path, SqliteConnection::Mode::kReadOnly);
    std::vector<std::string> tables;
    auto select = *connection->Prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'followed' ORDER BY name");
    while (*select.Step()) tables.push_back(select.Text(0));
    std::vector<std::string> rows;
    for (const std::string& table : tables) {
      auto all = *connection->PrepareOnce("SELECT * FROM " + table);
      while (*all.Step()) {
        std::string row = table + ":";
        const int columns = Columns(*connection, table);
        for (int i = 0; i < columns; ++i) row += all.IsNull(i) ? " NULL" : " " + all.Text(i);
        rows.push_back(row);
      }
    }
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  static int Columns(SqliteConnection& connection, const std::string& table) {
    return static_cast<int>(
        *connection.QueryInt("SELECT count(*) FROM pragma_table_info('" + table + "')"));
  }
  void ExpectSame() { EXPECT_EQ(Rows(copy_path()), Rows(path())); }

  std::string folder_;
  std::unique_ptr<SqliteSweepStore> store_;
  std::unique_ptr<StandbyCopy> copy_;
  std::vector<std::string> changes_;
};

// A sweep from its creation to its deletion.
void RunSweep(SqliteSweepStore& store, const std::string& name, bool remove) {
  const auto sweep = store.CreateSweep(SomeSweep(name, "request of " + name), SomeTrials(3));
  ASSERT_TRUE(sweep.ok()) << sweep.status();
  for (const TrialTransition& step : {Assign(sweep->id, 1, 1), Lose(sweep->id, 1, 1),
                                      Assign(sweep->id, 1, 2), Finish(sweep->id, 1, 2, 0.4)}) {
    const absl::Status stored = store.UpdateTrial(step);
    ASSERT_TRUE(stored.ok()) << stored;
  }
  ASSERT_TRUE(store.SetAgentQuarantine({.agent = "a", .failures = 2}).ok());
  ASSERT_TRUE(store.CancelSweep(sweep->id, "was enough", At(3), "token ann").ok());
  if (!remove) return;
  ASSERT_TRUE(store.DeleteSweep(sweep->id, At(4), "token ann").ok());
}

TokenRecord TokenNamed(const std::string& name) {
  return {.name = name, .hash = HashOf(name), .create_time = At(0)};
}

TEST_F(StandbyCopyTest, HasAllRowsAfterEveryKindOfChange) {
  RunSweep(*store_, "before", /*remove=*/false);
  Follow();
  ExpectSame();
  RunSweep(*store_, "stays", /*remove=*/false);
  // Its rows go with it, by their references to it, and numbers of sweeps and events stay taken.
  RunSweep(*store_, "goes", /*remove=*/true);
  ASSERT_TRUE(store_->PruneEvents(At(100), 3).ok());
  ASSERT_TRUE(CatchUp().ok());
  EXPECT_GE(changes_.size(), 10u);
  ExpectSame();
}

TEST_F(StandbyCopyTest, AGroupThatWasUndoneInPartIsOneChange) {
  Follow();
  const auto events = store_->Atomically([](SweepAccess& access) -> absl::Status {
    EXPECT_TRUE(access.CreateSweep(SomeSweep("kept"), SomeTrials(1)).ok());
    EXPECT_FALSE(access
                     .Together([](SweepAccess& part) -> absl::Status {
                       EXPECT_TRUE(part.CreateSweep(SomeSweep("undone"), SomeTrials(1)).ok());
                       return absl::AbortedError("no");
                     })
                     .ok());
    return absl::OkStatus();
  });
  ASSERT_TRUE(events.ok());
  EXPECT_EQ(changes_.size(), 1u);
  ASSERT_TRUE(CatchUp().ok());
  ExpectSame();
  EXPECT_FALSE(store_
                   ->Atomically([](SweepAccess& access) -> absl::Status {
                     EXPECT_TRUE(access.CreateSweep(SomeSweep("lost"), SomeTrials(1)).ok());
                     return absl::UnavailableError("the disk is full");
                   })
                   .ok());
  EXPECT_EQ(changes_.size(), 1u);
}

TEST_F(StandbyCopyTest, TokensOfOtherProcessesFollowToo) {
  auto tokens = *TokenStore::Open(path());
  ASSERT_TRUE(tokens->Add(TokenNamed("before")).ok());
  Follow();
  ASSERT_TRUE(tokens->Add(TokenNamed("ann")).ok());
  ASSERT_TRUE(tokens->Revoke("before", At(5)).ok());
  store_->changes()->CaptureOthers();
  EXPECT_EQ(changes_.size(), 1u);
  ASSERT_TRUE(CatchUp().ok());
  ExpectSame();
  // A transaction of the store takes them along, and a change that a snapshot had already does no
  // harm.
  ASSERT_TRUE(tokens->Add(TokenNamed("bob")).ok());
  RunSweep(*store_, "s", /*remove=*/false);
  ASSERT_TRUE(CatchUp().ok());
  ExpectSame();
  const auto added = std::find_if(changes_.begin(), changes_.end(), [](const std::string& change) {
    return change.find("bob") != std::string::npos;
  });
  ASSERT_NE(added, changes_.end());
  EXPECT_TRUE(copy_->Apply(copy_->place().number + 1, *added).ok());
  ExpectSame();
}

TEST_F(StandbyCopyTest, GoesOnWhereItWasInALaterProcess) {
  Follow();
  RunSweep(*store_, "one", /*remove=*/false);
  ASSERT_TRUE(CatchUp().ok());
  const CopyPlace place = copy_->place();
  copy_.reset();
  copy_ = *StandbyCopy::Open(copy_path());
  EXPECT_EQ(copy_->place(), place);
  RunSweep(*store_, "two", /*remove=*/true);
  ASSERT_TRUE(CatchUp().ok());
  ExpectSame();
}

TEST_F(StandbyCopyTest, AGapOrAConflictChangesNothing) {
  Follow();
  RunSweep(*store_, "one", /*remove=*/false);
  ASSERT_GE(changes_.size(), 3u);
  const std::vector<std::string> before = Rows(copy_path());
  EXPECT_TRUE(absl::IsDataLoss(copy_->Apply(2, changes_[1])));
  // The right number, and the changes of another transaction: a trial that is not there.
  const absl::Status conflict = copy_->Apply(1, changes_[1]);
  EXPECT_TRUE(absl::IsDataLoss(conflict)) << conflict;
  EXPECT_EQ(Rows(copy_path()), before);
  EXPECT_EQ(copy_->place().number, 0);
  TakeSnapshot();
  ExpectSame();
}

TEST_F(StandbyCopyTest, NoServerOpensACopyBeforeItTookOver) {
  RunSweep(*store_, "one", /*remove=*/false);
  Follow();
  const int64_t last = (*store_->ListEvents(1, 0, 1000)).back().sequence;
  const std::string id = *store_->StoreId();
  EXPECT_THAT(SqliteSweepStore::Open(copy_path()).status().message(), HasSubstr("standby's copy"));
  const auto epoch = copy_->TakeOver();
  ASSERT_TRUE(epoch.ok()) << epoch.status();
  EXPECT_EQ(*epoch, 2);
  copy_.reset();
  auto taken = SqliteSweepStore::Open(copy_path());
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(*(*taken)->StoreId(), id);
  EXPECT_EQ(*(*taken)->Epoch(), 2);
  EXPECT_EQ(*store_->Epoch(), 1);
  // A watcher that heard of events which the copy lacks misses none of the later ones.
  EXPECT_GE(*(*taken)->AppendEvent({.sweep_id = 1, .kind = "sweep_waiting", .time = At(9)}),
            last + 1'000'000);
}

TEST_F(StandbyCopyTest, AStoreAndItsCopiesRememberThatTheStoreHadStandbys) {
  EXPECT_FALSE(*store_->changes()->WasCaptured());
  Follow();
  store_->changes()->EndCapture();
  store_.reset();
  store_ = *SqliteSweepStore::Open(path());
  EXPECT_TRUE(*store_->changes()->WasCaptured());
  ASSERT_TRUE(copy_->TakeOver().ok());
  copy_.reset();
  EXPECT_TRUE(*(*SqliteSweepStore::Open(copy_path()))->changes()->WasCaptured());
}

TEST_F(StandbyCopyTest, AnEmptyCopyCantTakeOver) {
  EXPECT_FALSE(copy_->complete());
  EXPECT_TRUE(absl::IsFailedPrecondition(copy_->TakeOver().status()));
}

TEST_F(StandbyCopyTest, AFirstServersOwnDatabaseFollowsALaterEpochAndIsKept) {
  RunSweep(*store_, "one", /*remove=*/false);
  Follow();
  ASSERT_TRUE(copy_->TakeOver().ok());
  // Only the first server had this one.
  RunSweep(*store_, "unknown", /*remove=*/false);
  store_->changes()->EndCapture();
  store_.reset();
  copy_.reset();
  store_ = *SqliteSweepStore::Open(copy_path());
  copy_ = *StandbyCopy::Open(path());
  EXPECT_TRUE(copy_->CheckMayFollow({*store_->StoreId(), 2}).ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(copy_->CheckMayFollow({*store_->StoreId(), 1})));
  EXPECT_TRUE(absl::IsFailedPrecondition(copy_->CheckMayFollow({"ab", 2})));
  changes_.clear();
  Follow();
  EXPECT_EQ(Rows(path()), Rows(copy_path()));
  auto kept = SqliteSweepStore::Open(KeptBeforeFollowing(path(), 1));
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_TRUE((*kept)->GetSweep("unknown").ok());
  EXPECT_FALSE(store_->GetSweep("unknown").ok());
}

TEST_F(StandbyCopyTest, AFirstServersOwnDatabaseCantTakeOverBeforeItFollowed) {
  store_.reset();
  auto own = StandbyCopy::Open(path());
  ASSERT_TRUE(own.ok()) << own.status();
  EXPECT_FALSE((*own)->complete());
  EXPECT_TRUE(absl::IsFailedPrecondition((*own)->TakeOver().status()));
  EXPECT_EQ((*own)->identity().epoch, 1);
}

TEST_F(StandbyCopyTest, ASnapshotOfAnotherStoreIsRefused) {
  Follow();
  auto other = *SqliteSweepStore::Open(folder_ + "/other.db");
  auto file = other->changes()->Snapshot([] {});
  ASSERT_TRUE(file.ok());
  std::filesystem::copy_file("/proc/self/fd/" + std::to_string(file->get()), copy_->SnapshotPath());
  EXPECT_TRUE(absl::IsFailedPrecondition(copy_->TakeSnapshot({"log", 0})));
  ExpectSame();
  EXPECT_FALSE(std::filesystem::exists(copy_->SnapshotPath()));
}

TEST_F(StandbyCopyTest, AStoreInMemoryCantBeFollowed) {
  EXPECT_EQ((*SqliteSweepStore::Open(kInMemory))->changes(), nullptr);
}

}  // namespace
}  // namespace meshwright::db

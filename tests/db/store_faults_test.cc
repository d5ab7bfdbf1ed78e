// Files that are not ours, disks that are full, processes that are killed.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/time/clock.h"
#include "db/check.h"
#include "db/damage_search.h"
#include "db/migrations.h"
#include "db/sqlite_store.h"
#include "db/store_lock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/db/store_records.h"

namespace meshwright::db {
namespace {

using ::testing::HasSubstr;

class StoreFaultsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/faults-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/sweeps.db";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<SqliteSweepStore> Open() const {
    auto store = SqliteSweepStore::Open(path_);
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), {});
  }
  // The counts of CheckStore() by a user who may read the folder and write nothing; -1 where it
  // fails or finds damage.
  StoreCheck CheckAsNobody() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      chmod(entry.path().c_str(), 0444);
    }
    chmod(folder_.c_str(), 0555);
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      constexpr uid_t kNobody = 65534;  // root would write it all the same
      if (geteuid() == 0 && setuid(kNobody) != 0) _exit(2);
      const auto check = CheckStore(path_);
      const bool whole = check.ok() && check->ok();
      const int64_t found[2] = {whole ? check->trials : -1, whole ? check->unseen_wal_bytes : -1};
      _exit(write(ends[1], found, sizeof(found)) == sizeof(found) ? 0 : 1);
    }
    close(ends[1]);
    int64_t found[2] = {-1, -1};
    EXPECT_EQ(read(ends[0], found, sizeof(found)), static_cast<ssize_t>(sizeof(found)));
    close(ends[0]);
    waitpid(child, nullptr, 0);
    chmod(folder_.c_str(), 0755);
    StoreCheck check;
    check.trials = found[0];
    check.unseen_wal_bytes = found[1];
    return check;
  }
  void Execute(const std::string& sql) const {
    auto connection = SqliteConnection::Open(path_, SqliteConnection::Mode::kReadWriteCreate);
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE((*connection)->Execute(sql).ok());
  }

  std::string folder_;
  std::string path_;
};

TEST_F(StoreFaultsTest, AFileThatIsNoDatabaseIsNamedAndLeftAlone) {
  const std::string text(5000, 'x');
  std::ofstream(path_) << text;
  const absl::Status status = SqliteSweepStore::Open(path_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(path_ + " is not an SQLite database"));
  EXPECT_EQ(std::filesystem::file_size(path_), text.size());
}

TEST_F(StoreFaultsTest, ADatabaseOfAnotherApplicationIsRefused) {
  Execute("CREATE TABLE songs (name TEXT)");
  const absl::Status status = SqliteSweepStore::Open(path_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("another application"));
}

TEST_F(StoreFaultsTest, ANewerSchemaIsRefusedWithBothVersions) {
  Open();
  Execute("PRAGMA user_version = 99");
  const absl::Status status = SqliteSweepStore::Open(path_).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("schema version 99"));
  EXPECT_TRUE(absl::IsFailedPrecondition(CheckStore(path_).status()));
}

TEST_F(StoreFaultsTest, AFolderThatIsMissingIsUnavailable) {
  EXPECT_TRUE(absl::IsUnavailable(SqliteSweepStore::Open(folder_ + "/no/such.db").status()));
}

TEST_F(StoreFaultsTest, AFullDiskLosesNothingThatWasStored) {
  const auto store = Open();
  ASSERT_TRUE(store->CreateSweep(SomeSweep("one"), SomeTrials(1)).ok());
  ASSERT_TRUE(store->LimitPages(1).ok());  // SQLite takes the current size instead
  SweepRecord large = SomeSweep("two");
  large.cluster_json = std::string(1 << 20, 'x');
  const absl::Status status = store->CreateSweep(large, SomeTrials(1)).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("full"));
  EXPECT_TRUE(store->GetSweep("one").ok());
  EXPECT_TRUE(absl::IsNotFound(store->GetSweep("two").status()));
  ASSERT_TRUE(store->LimitPages(100000).ok());
  EXPECT_TRUE(store->CreateSweep(large, SomeTrials(1)).ok());
}

TEST_F(StoreFaultsTest, AReadOnlyFileIsUnavailable) {
  Open()->CreateSweep(SomeSweep("one"), SomeTrials(1)).status().IgnoreError();
  chmod(path_.c_str(), 0444);
  chmod(folder_.c_str(), 0555);
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;  // root would write it all the same
    if (geteuid() == 0 && setuid(kNobody) != 0) _exit(2);
    _exit(absl::IsUnavailable(SqliteSweepStore::Open(path_).status()) ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  chmod(folder_.c_str(), 0755);
  EXPECT_EQ(status, 0);
}

TEST_F(StoreFaultsTest, AKilledProcessLeavesAWholeFile) {
  Open();
  const pid_t child = fork();
  if (child == 0) {
    auto store = SqliteSweepStore::Open(path_);
    for (int i = 1; store.ok(); ++i) {
      (*store)->CreateSweep(SomeSweep("s" + std::to_string(i)), SomeTrials(5)).IgnoreError();
    }
    _exit(1);
  }
  usleep(300'000);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  const auto store = Open();
  const auto sweeps = store->ListSweeps(0, 1000000);
  ASSERT_TRUE(sweeps.ok());
  EXPECT_FALSE(sweeps->empty());
  for (const SweepRecord& sweep : *sweeps) EXPECT_EQ(sweep.trial_counts.total(), 5);
  const auto check = CheckStore(path_);
  ASSERT_TRUE(check.ok());
  EXPECT_TRUE(check->ok());
}

TEST_F(StoreFaultsTest, CheckCountsAndFindsDanglingRows) {
  Open()->CreateSweep(SomeSweep("one"), SomeTrials(3)).status().IgnoreError();
  auto check = CheckStore(path_);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_TRUE(check->ok());
  EXPECT_EQ(check->schema_version, LatestSchemaVersion());
  EXPECT_EQ(check->trials, 3);
  Execute("PRAGMA foreign_keys = OFF; DELETE FROM sweeps");
  check = CheckStore(path_);
  ASSERT_TRUE(check.ok());
  EXPECT_FALSE(check->ok());
}

TEST_F(StoreFaultsTest, ADatabaseIsItsOwnersAlone) {
  const auto mode = [this](const std::string& suffix) {
    struct stat file = {};
    EXPECT_EQ(stat((path_ + suffix).c_str(), &file), 0) << suffix;
    return file.st_mode & 0777;
  };
  {
    const auto store = Open();
    ASSERT_TRUE(store->CreateSweep(SomeSweep("one"), SomeTrials(1)).ok());
    for (const char* suffix : {"", "-wal", "-shm"}) EXPECT_EQ(mode(suffix), 0600u) << suffix;
  }
  // One that an earlier release made.
  chmod(path_.c_str(), 0644);
  Open();
  EXPECT_EQ(mode(""), 0600u);
}

TEST_F(StoreFaultsTest, OneServerAtATimeHasADatabase) {
  {
    const auto first = StoreLock::Take(path_);
    ASSERT_TRUE(first.ok()) << first.status();
    const absl::Status second = StoreLock::Take(path_).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(second)) << second;
    EXPECT_THAT(std::string(second.message()), HasSubstr("is in use by another server"));
    EXPECT_TRUE(Open()->CreateSweep(SomeSweep("one"), SomeTrials(1)).ok());
    EXPECT_TRUE(CheckStore(path_)->ok());
  }
  EXPECT_TRUE(StoreLock::Take(path_).ok());
}

TEST_F(StoreFaultsTest, AServerNoticesThatItsDatabaseIsElsewhere) {
  const auto lock = StoreLock::Take(path_);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_TRUE(lock->CheckInPlace().ok());
  std::filesystem::rename(path_, path_ + ".moved");
  EXPECT_THAT(std::string(lock->CheckInPlace().message()), HasSubstr("was moved while"));
  std::ofstream(path_) << "another file";
  EXPECT_THAT(std::string(lock->CheckInPlace().message()), HasSubstr("was replaced while"));
  std::filesystem::rename(path_ + ".moved", path_);
  EXPECT_TRUE(lock->CheckInPlace().ok());
  std::filesystem::remove(path_);
  EXPECT_THAT(std::string(lock->CheckInPlace().message()), HasSubstr("was deleted"));
}

TEST_F(StoreFaultsTest, AFileThatIsRefusedKeepsItsMode) {
  std::ofstream(path_) << "some notes that are no database, and long enough to look at";
  chmod(path_.c_str(), 0644);
  EXPECT_FALSE(SqliteSweepStore::Open(path_).ok());
  struct stat file = {};
  ASSERT_EQ(stat(path_.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0644u);
}

TEST_F(StoreFaultsTest, ADamagedFileIsRefusedAndLeftAlone) {
  Open()->CreateSweep(SomeSweep("one"), SomeTrials(50)).status().IgnoreError();
  Execute("VACUUM");  // nobody misses a page that is free
  const std::string whole = Bytes();
  const std::string junk(4096, '\x5a');
  std::vector<std::string> damaged = {whole.substr(0, whole.size() / 2)};  // cut off
  for (size_t page = 1; (page + 1) * 4096 <= whole.size(); page += 3) {
    damaged.push_back(whole);
    damaged.back().replace(page * 4096, 4096, junk);
  }
  for (const std::string& bytes : damaged) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    const absl::Status status = SqliteSweepStore::Open(path_).status();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr("database " + path_ + " is damaged ("));
    EXPECT_THAT(std::string(status.message()), HasSubstr("`meshwright db check --db " + path_));
    EXPECT_TRUE(Bytes() == bytes);
    const auto check = CheckStore(path_);
    ASSERT_TRUE(check.ok()) << check.status();
    EXPECT_FALSE(check->ok());
  }
}

TEST_F(StoreFaultsTest, DamageOfAFileInUseIsFoundBesideIt) {
  Open()->CreateSweep(SomeSweep("one"), SomeTrials(50)).status().IgnoreError();
  {
    const auto store = *SqliteSweepStore::Open(path_, LookOver::kLater);
    const auto search = *DamageSearch::Start(path_);
    while (!search->ended()) absl::SleepFor(absl::Milliseconds(1));
    EXPECT_TRUE(search->found().ok()) << search->found();
  }
  Execute("VACUUM");
  const std::string whole = Bytes();
  std::ofstream(path_, std::ios::binary | std::ios::trunc)
      << whole.substr(0, whole.size() - 4096) << std::string(4096, '\x5a');
  const auto store = SqliteSweepStore::Open(path_, LookOver::kLater);
  ASSERT_TRUE(store.ok()) << store.status();
  const auto search = *DamageSearch::Start(path_);
  while (!search->ended()) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(absl::IsDataLoss(search->found()));
  EXPECT_THAT(std::string(search->found().message()), HasSubstr("is damaged ("));
}

TEST_F(StoreFaultsTest, AFileThatIsMigratedIsLookedOverBefore) {
  Open()->CreateSweep(SomeSweep("one"), SomeTrials(50)).status().IgnoreError();
  Execute("VACUUM; PRAGMA user_version = 6");
  const std::string whole = Bytes();
  std::ofstream(path_, std::ios::binary | std::ios::trunc)
      << whole.substr(0, whole.size() - 4096) << std::string(4096, '\x5a');
  EXPECT_TRUE(absl::IsDataLoss(SqliteSweepStore::Open(path_, LookOver::kLater).status()));
}

TEST_F(StoreFaultsTest, ASearchForDamageEndsAtOnceWithItsObject) {
  Open()->CreateSweep(SomeSweep("one"), SomeTrials(50)).status().IgnoreError();
  Execute(
      "CREATE TABLE padding (bytes BLOB);"
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
      "INSERT INTO padding SELECT zeroblob(3000) FROM n");
  auto search = *DamageSearch::Start(path_);
  search.reset();
}

TEST_F(StoreFaultsTest, CheckLeavesNothingBehind) {
  Open();
  ASSERT_TRUE(CheckStore(path_).ok());
  for (const char* suffix : {"-wal", "-shm"}) EXPECT_FALSE(std::filesystem::exists(path_ + suffix));
}

TEST_F(StoreFaultsTest, CheckNeedsNoRightToWrite) {
  Open()->CreateSweep(SomeSweep("one"), SomeTrials(3)).status().IgnoreError();
  const auto check = CheckAsNobody();
  EXPECT_EQ(check.trials, 3);
  EXPECT_EQ(check.unseen_wal_bytes, 0);
}

TEST_F(StoreFaultsTest, CheckSaysWhatItCouldNotSee) {
  // What a killed server leaves: the newest changes are in the log alone.
  const auto store = Open();
  ASSERT_TRUE(store->CreateSweep(SomeSweep("one"), SomeTrials(3)).ok());
  const auto wal_bytes = static_cast<int64_t>(std::filesystem::file_size(path_ + "-wal"));
  ASSERT_GT(wal_bytes, 0);
  EXPECT_EQ(CheckStore(path_)->trials, 3);
  EXPECT_EQ(CheckStore(path_)->unseen_wal_bytes, 0);
  const std::string copy = folder_ + "/copy";
  std::filesystem::create_directories(copy);
  // The main file as of the last checkpoint.
  Execute("PRAGMA wal_checkpoint(TRUNCATE)");
  ASSERT_TRUE(store->CreateSweep(SomeSweep("two"), SomeTrials(5)).ok());
  for (const char* suffix : {"", "-wal"}) {
    std::filesystem::copy_file(path_ + suffix, copy + "/sweeps.db" + suffix);
  }
  folder_ = copy;
  path_ = copy + "/sweeps.db";
  const auto check = CheckAsNobody();
  EXPECT_EQ(check.trials, 3);
  EXPECT_EQ(check.unseen_wal_bytes,
            static_cast<int64_t>(std::filesystem::file_size(path_ + "-wal")));
}

TEST_F(StoreFaultsTest, CheckNeedsAFile) {
  EXPECT_TRUE(absl::IsNotFound(CheckStore(path_).status()));
}

}  // namespace
}  // namespace meshwright::db

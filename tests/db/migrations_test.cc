// A file of an older schema is brought up to date without losing a row, or stays as it was.
#include "db/migrations.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "db/check.h"
#include "db/integrity.h"
#include "db/sqlite_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/db/store_records.h"

namespace meshwright::db {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kRebuildTrials = R"(
  CREATE TABLE rebuilt (
    sweep_id INTEGER NOT NULL REFERENCES sweeps (id) ON DELETE CASCADE,
    number   INTEGER NOT NULL,
    state    TEXT NOT NULL,
    note     TEXT NOT NULL,
    PRIMARY KEY (sweep_id, number)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO rebuilt SELECT sweep_id, number, state, 'kept' FROM trials;
  DROP TABLE trials;
  ALTER TABLE rebuilt RENAME TO trials;)";

class MigrationsTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/migrations-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    path_ = folder_ + "/sweeps.db";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A sweep whose only trial was measured, in the schema of this program.
  void MakeStore() const {
    const auto store = SqliteSweepStore::Open(path_);
    ASSERT_TRUE(store.ok()) << store.status();
    ASSERT_TRUE((*store)->CreateSweep(SomeSweep("one"), SomeTrials(1)).ok());
    ASSERT_TRUE((*store)->UpdateTrial(Assign(1, 1, 1)).ok());
    ASSERT_TRUE((*store)->UpdateTrial(Finish(1, 1, 1, 0.5)).ok());
  }
  std::unique_ptr<SqliteConnection> Connect(const std::string& path) const {
    return *SqliteConnection::Open(path, SqliteConnection::Mode::kReadWriteCreate);
  }
  // The scripts of this program and one more.
  static MigrationScripts And(std::string_view script) {
    MigrationScripts scripts = SchemaMigrations();
    scripts.push_back(script);
    return scripts;
  }

  std::string folder_;
  std::string path_;
};

TEST_F(MigrationsTest, ARebuiltTableKeepsTheRowsThatReferToIt) {
  MakeStore();
  const auto connection = Connect(path_);
  ASSERT_TRUE(connection->Execute("PRAGMA foreign_keys = ON").ok());
  const absl::Status status = Migrate(connection.get(), And(kRebuildTrials));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(*connection->QueryInt("PRAGMA user_version"), LatestSchemaVersion() + 1);
  EXPECT_EQ(*connection->QueryText("SELECT note FROM trials"), "kept");
  EXPECT_EQ(*connection->QueryText("SELECT outcome FROM attempts"), "ok");
  // And references are enforced from now on.
  EXPECT_FALSE(connection
                   ->Execute("DELETE FROM trials; INSERT INTO attempts (sweep_id, trial, "
                             "number, start_time_us) VALUES (9, 9, 1, 0)")
                   .ok());
}

TEST_F(MigrationsTest, TheFileIsCopiedBeforeItChanges) {
  MakeStore();
  const std::string copy = CopyBeforeMigration(path_, LatestSchemaVersion());
  EXPECT_EQ(copy, path_ + ".before-v" + std::to_string(LatestSchemaVersion() + 1));
  ASSERT_TRUE(Migrate(Connect(path_).get(), And(kRebuildTrials)).ok());
  const auto check = CheckStore(copy);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_TRUE(check->ok());
  EXPECT_EQ(check->attempts, 1);
  struct stat file = {};
  ASSERT_EQ(stat(copy.c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777, 0600u);
  EXPECT_TRUE((*SqliteSweepStore::Open(copy))->GetSweep("one").ok());
}

TEST_F(MigrationsTest, NothingIsCopiedWhereThereIsNothingToMigrate) {
  MakeStore();  // a new file
  ASSERT_TRUE(Migrate(Connect(path_).get()).ok());
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().string().find(".before-v"), std::string::npos) << entry.path();
  }
}

TEST_F(MigrationsTest, AScriptThatLeavesADanglingReferenceIsUndone) {
  MakeStore();
  const auto connection = Connect(path_);
  const absl::Status status = Migrate(connection.get(), And("DELETE FROM trials"));
  EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("refers to a missing row of trials"));
  EXPECT_EQ(*connection->QueryInt("PRAGMA user_version"), LatestSchemaVersion());
  EXPECT_EQ(*connection->QueryInt("SELECT count(*) FROM trials"), 1);
}

TEST_F(MigrationsTest, WhereAScriptFailsAllAreUndoneAndTheNextTryHasTheSameCopy) {
  MakeStore();
  MigrationScripts scripts = And("CREATE TABLE extra (a INTEGER) STRICT");
  scripts.push_back("CREATE TABLE more (a INTEGER) STRICT; SELECT nonsense FROM nowhere");
  const auto connection = Connect(path_);
  EXPECT_FALSE(Migrate(connection.get(), scripts).ok());
  EXPECT_EQ(*connection->QueryInt("PRAGMA user_version"), LatestSchemaVersion());
  EXPECT_EQ(*connection->QueryInt("SELECT count(*) FROM sqlite_schema WHERE name IN "
                                  "('extra', 'more')"),
            0);
  scripts.back() = "CREATE TABLE more (a INTEGER) STRICT";
  ASSERT_TRUE(Migrate(connection.get(), scripts).ok());
  EXPECT_EQ(*connection->QueryInt("PRAGMA user_version"), LatestSchemaVersion() + 2);
  EXPECT_TRUE(std::filesystem::exists(CopyBeforeMigration(path_, LatestSchemaVersion())));
  EXPECT_FALSE(std::filesystem::exists(CopyBeforeMigration(path_, LatestSchemaVersion() + 1)));
}

// What a release wrote, column for column, reads the same through this program.
class ReleaseTest : public MigrationsTest, public testing::WithParamInterface<const char*> {
 protected:
  using Rows = std::map<std::string, std::vector<std::string>>;

  static std::string Canonical(const std::string& json) {
    return nlohmann::json::parse(json).dump();
  }
  // Until schema version 6 a trial is a row, and so is a sweep.
  static constexpr char kFlatTrials[] =
      "SELECT s.name || '/' || t.number, t.layout, t.state, t.reason, t.agent, t.plan_json, "
      "t.predicted_json, coalesce(t.result_json, ''), coalesce(t.mfu, -1), "
      "coalesce(t.peak_bytes, -1), s.cluster_json, s.profile_json, s.funnel_json "
      "FROM trials AS t JOIN sweeps AS s ON s.id = t.sweep_id";
  // From 7 on shapes have tables of their own, and plans and shapes lack what sweeps say.
  static constexpr char kTrials[] =
      "SELECT s.name || '/' || t.number, c.layout, t.state, t.reason, t.agent, "
      "json_patch(c.plan_json, json_object('model', json_patch(o.json, "
      "json_object('name', s.model)), 'training', json(g.json))), c.predicted_json, "
      "coalesce(r.result_json, ''), coalesce(m.mfu, -1), coalesce(m.peak_bytes, -1), "
      "json_patch(l.json, json_object('name', s.cluster)), "
      "json_patch(p.json, json_object('name', s.profile)), q.funnel_json "
      "FROM trials AS t JOIN sweeps AS s ON s.id = t.sweep_id "
      "JOIN candidates AS c ON c.sweep_id = t.sweep_id AND c.number = t.number "
      "JOIN models AS o ON o.hash = s.model_hash JOIN trainings AS g ON g.hash = s.training_hash "
      "JOIN clusters AS l ON l.hash = s.cluster_hash JOIN profiles AS p ON p.hash = s.profile_hash "
      "JOIN requests AS q ON q.sweep_id = s.id "
      "LEFT JOIN measurements AS m ON m.sweep_id = t.sweep_id AND m.trial = t.number "
      "LEFT JOIN results AS r ON r.measurement = m.id";
  // As the columns of that time have them: texts by sweep and trial.
  static Rows ReadOld(SqliteConnection* connection) {
    Rows rows;
    const bool flat = *connection->QueryInt("PRAGMA user_version") < 7;
    auto trials = *connection->Prepare(flat ? kFlatTrials : kTrials);
    while (*trials.Step()) {
      std::vector<std::string>& row = rows[trials.Text(0)];
      for (int column = 1; column < 13; ++column) row.push_back(trials.Text(column));
    }
    return rows;
  }
  static Rows ReadNew(SweepStore& store) {
    Rows rows;
    const std::vector<SweepRecord> sweeps = *store.ListSweeps(0, 100);
    for (const SweepRecord& sweep : sweeps) {
      const auto trials = *store.ListTrials(sweep.id, TrialOrder::kNumber, 0, 100);
      for (const TrialRecord& trial : trials) {
        const MeasuredTrial measured = trial.measured.value_or(MeasuredTrial{});
        rows[absl::StrCat(sweep.name, "/", trial.number)] = {
            trial.layout,
            std::string(TrialStateName(trial.state)),
            trial.reason,
            trial.agent,
            trial.plan_json,
            trial.predicted_json,
            measured.result_json,
            absl::StrCat(measured.mfu.value_or(-1)),
            absl::StrCat(measured.peak_bytes.value_or(-1)),
            sweep.cluster_json,
            sweep.profile_json,
            sweep.funnel_json};
      }
    }
    return rows;
  }
};

TEST_P(ReleaseTest, EveryColumnReadsAsItDid) {
  const char* source = std::getenv("MESHWRIGHT_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  std::filesystem::copy_file(absl::StrCat(source, "/tests/db/fixtures/", GetParam()), path_);
  Rows before = ReadOld(Connect(path_).get());
  ASSERT_GE(before.size(), 7u);
  auto store = SqliteSweepStore::Open(path_);
  ASSERT_TRUE(store.ok()) << store.status();
  Rows after = ReadNew(**store);
  ASSERT_EQ(after.size(), before.size());
  for (auto& [trial, row] : before) {
    ASSERT_EQ(after[trial].size(), row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      double number = 0.0;
      if (absl::SimpleAtod(row[i], &number)) {
        EXPECT_NEAR(std::stod(after[trial][i]), number, 1e-4 * std::abs(number)) << trial;
      } else if (!row[i].empty() && row[i].front() == '{') {
        EXPECT_EQ(Canonical(after[trial][i]), Canonical(row[i])) << trial << " column " << i;
      } else {
        EXPECT_EQ(after[trial][i], row[i]) << trial << " column " << i;
      }
    }
  }
  store->reset();
  const auto check = CheckStore(path_);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_THAT(check->problems, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Releases, ReleaseTest,
                         testing::Values("schema_4.db", "schema_6.db", "schema_12.db"),
                         [](const auto& tested) {
                           return std::filesystem::path(tested.param).stem().string();
                         });

// tests/db/fixtures/README.md says what is in it.
class FixtureTest : public MigrationsTest {
 protected:
  void SetUp() override {
    MigrationsTest::SetUp();
    const char* source = std::getenv("MESHWRIGHT_SOURCE_DIR");
    ASSERT_NE(source, nullptr);
    std::filesystem::copy_file(std::string(source) + "/tests/db/fixtures/schema_1.db", path_);
    auto store = SqliteSweepStore::Open(path_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  std::unique_ptr<SqliteSweepStore> store_;
};

TEST_F(FixtureTest, EveryRecordReadsAsItDid) {
  std::vector<std::string> sweeps;
  const std::vector<SweepRecord> listed = *store_->ListSweeps(0, 10);
  for (const SweepRecord& sweep : listed) {
    sweeps.push_back(sweep.name + " " + std::string(SweepStateName(sweep.state)) + " " +
                     std::to_string(sweep.trial_counts.ended()) + "/" +
                     std::to_string(sweep.trial_counts.total()));
    EXPECT_EQ(sweep.model, "tinystories-15m");
    EXPECT_EQ(sweep.planner_version, "0.1.0");
    EXPECT_GT(store_->ListEvents(sweep.id, 0, 100)->size(), 0u);
  }
  EXPECT_THAT(sweeps, ElementsAre("waiting pending 0/2", "oom finished 1/1",
                                  "cancelled cancelled 2/2", "finished finished 2/2"));
  const auto trials = *store_->ListTrials(1, TrialOrder::kNumber, 0, 10);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[0].layout, "tp2.cp1.pp1.dp1.mb4.vpp1.zero0.sp1.rc=none.sched=1f1b");
  ASSERT_TRUE(trials[1].measured.has_value());
  EXPECT_DOUBLE_EQ(*trials[1].measured->step_s, 0.222471569);
  EXPECT_EQ(*trials[1].measured->peak_bytes, 156576264);
  EXPECT_EQ(store_->GetTrial(3, 1)->state, TrialState::kOom);
  const auto attempts = *store_->ListAttempts(2, 1);
  ASSERT_EQ(attempts.size(), 1u);
  EXPECT_EQ(attempts[0].outcome, "cancelled");
  EXPECT_EQ(attempts[0].members.at(0).agent, "node1");
  EXPECT_THAT(*store_->ListAttempts(2, 2), IsEmpty());
}

TEST_F(FixtureTest, TakesTheResultOfATrialThatWasPending) {
  const SweepRecord waiting = *store_->GetSweep("waiting");
  ASSERT_TRUE(store_->UpdateTrial(Assign(waiting.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Finish(waiting.id, 1, 1, 0.25)).ok());
  EXPECT_EQ(*store_->GetTrial(waiting.id, 1)->measured->mfu, 0.25);
  EXPECT_EQ(store_->ListAttempts(waiting.id, 1)->size(), 1u);
  EXPECT_TRUE(store_->CreateSweep(SomeSweep("new"), SomeTrials(1)).ok());
  store_.reset();
  const auto check = CheckStore(path_);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_THAT(check->problems, IsEmpty());
  EXPECT_EQ(check->attempts, 5);
}

}  // namespace
}  // namespace meshwright::db

// Databases of earlier versions, made from the migrations that they had seen.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "db/migrations.h"
#include "db/sqlite_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/db/store_records.h"

namespace meshwright::db {
namespace {

using ::testing::ElementsAre;

class FromSchema1Test : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "/from-schema-1-" + std::to_string(getpid()) + ".db";
    Remove();
  }
  void TearDown() override { Remove(); }
  void Remove() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }

  // A file that has seen the first migration only, with what `sql` puts into it.
  void MakeVersion1(const std::string& sql) const {
    const char* source = std::getenv("MESHWRIGHT_SOURCE_DIR");
    ASSERT_NE(source, nullptr) << "run through ctest, which sets MESHWRIGHT_SOURCE_DIR";
    std::ostringstream schema;
    schema << std::ifstream(std::string(source) + "/db/migrations/0001_sweeps.sql").rdbuf();
    auto connection = SqliteConnection::Open(path_, SqliteConnection::Mode::kReadWriteCreate);
    ASSERT_TRUE(connection.ok());
    ASSERT_TRUE((*connection)->Execute(schema.str()).ok());
    ASSERT_TRUE((*connection)
                    ->Execute("PRAGMA user_version = 1; PRAGMA application_id = " +
                              std::to_string(kApplicationId))
                    .ok());
    const absl::Status status = (*connection)->Execute(sql);
    ASSERT_TRUE(status.ok()) << status;
  }

  std::string path_;
};

// Their agents had compared steps of 632 ms and 756 ms with what each reached itself.
TEST_F(FromSchema1Test, MfuThatWereOfEachAgentsOwnPeakBecomeOfOne) {
  MakeVersion1(R"sql(
    INSERT INTO sweeps VALUES (1, 's', NULL, 'finished', 'done', 0, 0, 'm', 'c', '{}', 'h', 'p',
      '{}', 'h', 4, 'cpu', 64, 8, 'fp32', 5, 0, NULL, '{}', '1');
    INSERT INTO trials (sweep_id, number, layout, state, reason, attempt, plan_json, predicted_json,
                        result_json, mfu, step_s) VALUES
      (1, 1, 'a', 'ok', '', 1, '{}', '{"mfu": 0.5, "time": {"step_s": 1.0}}', '{}', 0.693, 0.756),
      (1, 2, 'b', 'ok', '', 1, '{}', '{"mfu": 0.4, "time": {"step_s": 1.25}}', '{}', 0.693, 0.632),
      (1, 3, 'c', 'ok', '', 1, '{}', 'no JSON', '{}', 0.1, 2.0),
      (1, 4, 'd', 'oom', '', 1, '{}', '{"mfu": 0.4, "time": {"step_s": 1.25}}', '{}', NULL, NULL);
  )sql");
  const auto store = SqliteSweepStore::Open(path_);
  ASSERT_TRUE(store.ok()) << store.status();
  const auto trials = (*store)->ListTrials(1, TrialOrder::kMeasuredMfu, 0, 10);
  ASSERT_TRUE(trials.ok()) << trials.status();
  std::vector<int32_t> order;
  order.reserve(trials->size());
  for (const TrialRecord& trial : *trials) order.push_back(trial.number);
  EXPECT_THAT(order, ElementsAre(2, 1, 3, 4));
  EXPECT_DOUBLE_EQ(*trials->at(0).measured->mfu, 0.5 / 0.632);
  EXPECT_DOUBLE_EQ(*trials->at(1).measured->mfu, 0.5 / 0.756);
  EXPECT_DOUBLE_EQ(*trials->at(2).measured->mfu, 0.1);
  EXPECT_FALSE(trials->at(3).measured->mfu.has_value());
  EXPECT_FALSE(trials->at(0).requested);
  EXPECT_EQ((*store)->GetSweep("s")->rerun_of, "");
}

// The first release wrote a field into every plan that only its tests used.
TEST_F(FromSchema1Test, PlansLoseTheFieldOfTests) {
  MakeVersion1(R"sql(
    INSERT INTO sweeps VALUES (1, 's', NULL, 'finished', 'done', 0, 0, 'm', 'c', '{}', 'h', 'p',
      '{}', 'h', 4, 'cpu', 64, 8, 'fp32', 5, 0, NULL, '{}', '1');
    INSERT INTO trials (sweep_id, number, layout, state, reason, attempt, plan_json, predicted_json)
      VALUES
      (1, 1, 'a', 'ok', '', 1, '{"dump_gradients_dir":"","seed":18446744073709551615}', '{}'),
      (1, 2, 'b', 'ok', '', 1, 'no JSON', '{}');
  )sql");
  const auto store = SqliteSweepStore::Open(path_);
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_EQ((*store)->GetTrial(1, 1)->plan_json, R"({"seed":18446744073709551615})");
  EXPECT_EQ((*store)->GetTrial(1, 2)->plan_json, "no JSON");
}

}  // namespace
}  // namespace meshwright::db

// What the measurements of databases of earlier releases are.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "db/check.h"
#include "db/sqlite_store.h"
#include "gtest/gtest.h"
#include "tests/db/measured_facets.h"
#include "tests/db/store_records.h"

namespace meshwright::db {
namespace {

// tests/db/fixtures/README.md says what is in them.
class MeasurementsOfFixtureTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/measurements-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    const char* source = std::getenv("MESHWRIGHT_SOURCE_DIR");
    ASSERT_NE(source, nullptr);
    std::filesystem::copy_file(std::string(source) + "/tests/db/fixtures/" + GetParam(),
                               folder_ + "/sweeps.db");
    auto store = SqliteSweepStore::Open(folder_ + "/sweeps.db");
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }
  void TearDown() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }
  std::vector<MeasuredRow> Where(const std::string& text, MeasurementOrder order) {
    MeasurementQuery query;
    query.where = *ParseMeasurementCondition("where", text);
    query.order = order;
    query.limit = 100;
    return *store_->ListMeasured(query);
  }

  std::string folder_;
  std::unique_ptr<SqliteSweepStore> store_;
};

TEST_P(MeasurementsOfFixtureTest, EveryResultIsAMeasurement) {
  std::map<std::string, std::optional<double>> expected;
  const std::vector<SweepRecord> sweeps = *store_->ListSweeps(0, 100);
  for (const SweepRecord& sweep : sweeps) {
    const auto trials = *store_->ListTrials(sweep.id, TrialOrder::kNumber, 0, 100);
    for (const TrialRecord& trial : trials) {
      if (!trial.measured) continue;
      expected[sweep.name + "/" + std::to_string(trial.number)] = trial.measured->mfu;
    }
  }
  std::map<std::string, std::optional<double>> found;
  for (const MeasuredRow& row : Where("", MeasurementOrder::kMfu)) {
    found[row.sweep + "/" + std::to_string(row.trial.number)] = row.place.figure;
    EXPECT_EQ(row.model, "tinystories-15m");
    const bool ran = row.trial.reused_from.empty();
    EXPECT_EQ(row.source, ran ? MeasurementSource::kRan : MeasurementSource::kReused);
  }
  EXPECT_GE(found.size(), 3u);
  EXPECT_EQ(found, expected);
}

TEST_P(MeasurementsOfFixtureTest, ConditionsFindThem) {
  const auto rows = Where("tp = 2 and rc = none and outcome = ok and dtype = fp32 and gpus = 2",
                          MeasurementOrder::kStepTime);
  ASSERT_GE(rows.size(), 2u);
  for (size_t i = 1; i < rows.size(); ++i) {
    EXPECT_LE(*rows[i - 1].place.figure, *rows[i].place.figure);
  }
  EXPECT_EQ(Where("outcome = oom", MeasurementOrder::kMfu).size(), 1u);
  EXPECT_EQ(Where("outcome = oom", MeasurementOrder::kMfu).front().sweep, "oom");
  EXPECT_TRUE(Where("tp = 4", MeasurementOrder::kMfu).empty());
  store_.reset();
  EXPECT_TRUE(CheckStore(folder_ + "/sweeps.db")->ok());
}

TEST_P(MeasurementsOfFixtureTest, TheFacetsOfEveryRowAreThere) {
  store_.reset();
  ExpectFacetsOfAllRows(folder_ + "/sweeps.db");
}

// A shape is what a model and a training are, whatever the sweep.
TEST_P(MeasurementsOfFixtureTest, SweepsOfOneModelHaveOneShape) {
  ASSERT_TRUE(store_->CreateSweep(SomeSweep("of-no-plan"), SomeTrials(1)).ok());
  store_.reset();
  const auto connection =
      *SqliteConnection::Open(folder_ + "/sweeps.db", SqliteConnection::Mode::kReadOnly);
  EXPECT_EQ(*connection->QueryInt("SELECT count(DISTINCT model_hash) FROM sweeps "
                                  "WHERE name <> 'of-no-plan'"),
            1);
  EXPECT_EQ(*connection->QueryInt("SELECT min(length(training_hash)) FROM sweeps "
                                  "WHERE name <> 'of-no-plan'"),
            32);
  EXPECT_EQ(
      *connection->QueryInt("SELECT model_hash IS NULL FROM sweeps WHERE name = 'of-no-plan'"), 1);
  EXPECT_EQ(*connection->QueryInt("SELECT count(*) FROM models"), 1);
}

INSTANTIATE_TEST_SUITE_P(Releases, MeasurementsOfFixtureTest,
                         testing::Values("schema_1.db", "schema_4.db", "schema_6.db",
                                         "schema_12.db"),
                         [](const auto& tested) {
                           return std::filesystem::path(tested.param).stem().string();
                         });

}  // namespace
}  // namespace meshwright::db

// Options of runs as fields of conditions: of sweeps, of imports, and of stores of earlier
// releases.
#include "db/training_options.h"

#include <unistd.h>

#include <filesystem>
#include <memory>

#include "base/text/field_error.h"
#include "db/migrations.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/db/store_conformance.h"
#include "tests/db/store_records.h"
#include "tests/planner/changed_options.h"

namespace meshwright::db {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string TrainingWith(const planner::ChangedOption& option) {
  nlohmann::json training = {{"seq_len", 128}};
  training[std::string(option.name)] = std::string(option.value);
  return training.dump();
}

// That the option has the value.
std::string Is(std::string_view name, std::string_view value) {
  return std::string(name) + " = \"" + std::string(value) + "\"";
}

class OptionsOfStoresTest : public StoreConformanceTest {
 protected:
  std::vector<std::string> Where(const std::string& condition) {
    MeasurementQuery query;
    query.where = *ParseMeasurementCondition("where", condition);
    query.limit = 100;
    const std::vector<MeasuredRow> rows = *store_->ListMeasured(query);
    std::vector<std::string> names;
    for (const MeasuredRow& row : rows) {
      names.push_back(row.imported ? row.imported->row_hash : row.sweep);
    }
    return names;
  }
  void Measured(const std::string& name, const std::string& training) {
    std::vector<TrialRecord> trials = SomeTrials(1);
    trials[0].plan_json = R"({"model":{"layers":2},"training":)" + training + "}";
    const SweepRecord sweep = *store_->CreateSweep(SomeSweep(name), trials);
    ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
    ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, 1, 1, 0.25, 0.5)).ok());
  }
};

TEST_P(OptionsOfStoresTest, EachTellsSweepsApart) {
  Measured("plain", R"({"seq_len":128})");
  for (const planner::ChangedOption& option : planner::kChangedOptions) {
    const std::string name(option.name);
    Measured(name, TrainingWith(option));
    EXPECT_THAT(Where(Is(option.name, option.value)), ElementsAre(name));
    EXPECT_THAT(Where(Is(option.name, planner::DefaultOptionText(option.name)) + " and mfu > 0"),
                testing::Contains("plain"));
    EXPECT_THAT(Where("not " + Is(option.name, option.value)), SizeIs(Where("").size() - 1));
  }
}

TEST_P(OptionsOfStoresTest, EachTellsImportsApart) {
  for (const planner::ChangedOption& option : planner::kChangedOptions) {
    NewImport run;
    run.run.row_hash = std::string(option.name);
    run.model = "theirs";
    run.cluster = "h100";
    run.training_json = TrainingWith(option);
    run.training_hash = "hash of " + run.run.row_hash;
    run.layout = "tp2.cp1.pp1.dp2.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b";
    ASSERT_EQ(*store_->Import({run}), 1);
    EXPECT_THAT(Where(Is(option.name, option.value)), ElementsAre(run.run.row_hash));
  }
}

TEST_P(OptionsOfStoresTest, AConditionTakesWhatTheFlagTakes) {
  Measured("bf16", R"({"states":"bf16"})");
  EXPECT_THAT(Where("states = \"master=none,grad=bf16,m=bf16,v=bf16\""), ElementsAre("bf16"));
  const absl::Status status = ParseMeasurementCondition("where", "loss = magic").status();
  EXPECT_EQ(FieldOf(status), "where");
  EXPECT_THAT(std::string(status.message()), HasSubstr("where plain|fused|chunked:N must be"));
}

INSTANTIATE_TEST_SUITE_P(Stores, OptionsOfStoresTest, EveryStore(), NameOfStore);

class OptionColumnsTest : public testing::Test {
 protected:
  static constexpr size_t kVersionBefore = 14;

  void SetUp() override {
    path_ = testing::TempDir() + "/options-" + std::to_string(getpid()) + ".db";
    TearDown();
  }
  void TearDown() override {
    for (const char* suffix : {"", "-wal", "-shm", ".before-v15"}) {
      std::filesystem::remove(path_ + suffix);
    }
  }
  size_t CountWhere(const std::string& condition) {
    const auto store = SqliteSweepStore::Open(path_);
    EXPECT_TRUE(store.ok()) << store.status();
    MeasurementQuery query;
    query.where = *ParseMeasurementCondition("where", condition);
    query.limit = 100;
    return (*store)->ListMeasured(query)->size();
  }
  std::unique_ptr<SqliteConnection> Connect() {
    return *SqliteConnection::Open(path_, SqliteConnection::Mode::kReadWriteCreate);
  }

  std::string path_;
};

// Trials and imports that an earlier release stored have the defaults, but for an optimizer that
// their plans name.
TEST_F(OptionColumnsTest, AMigrationGivesWhatIsStoredTheDefaults) {
  {
    const auto connection = Connect();
    MigrationScripts scripts = SchemaMigrations();
    ASSERT_GT(scripts.size(), kVersionBefore);
    scripts.resize(kVersionBefore);
    ASSERT_TRUE(Migrate(connection.get(), scripts).ok());
    const absl::Status filled = connection->Execute(R"sql(
      INSERT INTO trainings VALUES ('t', '{"seq_len":128,"optimizer":"muon"}');
      INSERT INTO measurements (source, model, cluster, model_hash, cluster_hash, training_hash,
        worker_version, devices, seq_len, global_batch, precision, layout, outcome)
      VALUES ('imported', 'tiny', 'h100', 'm', 'c', 't', '', 4, 128, 8, 'bf16', 'x', 'oom'),
        ('imported', 'tiny', 'h100', 'm', 'c', 'of an import', '', 4, 128, 8, 'bf16', 'x', 'oom');
      INSERT INTO imports VALUES (1, 'a', 'o', 's', 'f', '', 0, ''), (2, 'b', 'o', 's', 'f', '', 0, '');
    )sql");
    ASSERT_TRUE(filled.ok()) << filled;
  }
  for (const std::string_view option : planner::OptionNames()) {
    const size_t with_default = option == "optimizer" ? 1 : 2;
    EXPECT_EQ(CountWhere(Is(option, planner::DefaultOptionText(option))), with_default) << option;
  }
  EXPECT_EQ(CountWhere("optimizer = muon"), 1u);
}

// As in a file that a program without the option wrote.
TEST_F(OptionColumnsTest, AnOptionWithoutAColumnGetsOneWhenTheStoreIsOpened) {
  {
    const auto store = *SqliteSweepStore::Open(path_);
    std::vector<TrialRecord> trials = SomeTrials(1);
    trials[0].plan_json = R"({"model":{"layers":2},"training":{"loss":"fused"}})";
    const SweepRecord sweep = *store->CreateSweep(SomeSweep("one"), trials);
    ASSERT_TRUE(store->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
    ASSERT_TRUE(store->UpdateTrial(Finish(sweep.id, 1, 1, 0.25, 0.5)).ok());
  }
  ASSERT_TRUE(Connect()
                  ->Execute("ALTER TABLE training_options DROP COLUMN loss; "
                            "ALTER TABLE training_options DROP COLUMN train")
                  .ok());
  EXPECT_EQ(CountWhere("loss = fused and train = full"), 1u);
  EXPECT_EQ(CountWhere("loss = plain"), 0u);
}

TEST(OptionOfTraining, IsTheDefaultUnlessTheTextSaysAnother) {
  EXPECT_EQ(OptionOfTraining(R"({"loss":"fused"})", "loss"), "fused");
  EXPECT_EQ(OptionOfTraining(R"({"loss":"fused"})", "states"), "default");
  EXPECT_EQ(OptionOfTraining(R"({"loss":8})", "loss"), "plain");
  EXPECT_EQ(OptionOfTraining("", "optimizer"), "adamw");
  EXPECT_EQ(OptionOfTraining("no JSON", "optimizer"), "adamw");
}

}  // namespace
}  // namespace meshwright::db

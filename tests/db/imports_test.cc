// Runs from elsewhere beside those of sweeps: stored once, found by conditions, never taken for a
// result of a worker.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "db/check.h"
#include "db/migrations.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/db/store_conformance.h"
#include "tests/db/store_records.h"

namespace meshwright::db {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kLayout[] = "tp2.cp1.pp1.dp2.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b";

NewImport SomeImport(const std::string& row_hash, double step_s) {
  NewImport run;
  run.run = {.row_hash = row_hash,
             .origin = "a paper",
             .sweep = "table 2",
             .framework = "megatron-lm",
             .notes = "a note",
             .import_time = At(3),
             .actor = "token ann"};
  run.model = "theirs";
  run.cluster = "h100";
  run.model_hash = "m";
  run.cluster_hash = "c";
  run.training_hash = "t";
  run.devices = 4;
  run.seq_len = 64;
  run.global_batch = 8;
  run.precision = "bf16";
  run.layout = kLayout;
  run.mfu = 0.25 / step_s;
  run.step_s = step_s;
  run.peak_bytes = 1000;
  return run;
}

class ImportsTest : public StoreConformanceTest {
 protected:
  std::vector<MeasuredRow> Where(const std::string& condition,
                                 MeasurementOrder order = MeasurementOrder::kMfu,
                                 std::optional<int64_t> sweep_id = std::nullopt) {
    MeasurementQuery query;
    query.where = *ParseMeasurementCondition("filter", condition);
    query.order = order;
    query.sweep_id = sweep_id;
    query.limit = 100;
    const auto rows = store_->ListMeasured(query);
    EXPECT_TRUE(rows.ok()) << rows.status();
    return *rows;
  }
};

TEST_P(ImportsTest, ARowIsThereOnce) {
  EXPECT_EQ(*store_->Import({SomeImport("1", 0.5), SomeImport("2", 0.25), SomeImport("1", 0.5)}),
            2);
  EXPECT_EQ(*store_->Import({SomeImport("2", 0.25), SomeImport("3", 1.0)}), 1);
  EXPECT_EQ(*store_->Import({}), 0);
  EXPECT_EQ(Where("source = imported").size(), 3u);
}

TEST_P(ImportsTest, ATrialOfThisStoreIsKnown) {
  const SweepRecord sweep = Create("ours", 1);
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, 1, 1, 0.25, 0.123456789012)).ok());
  NewImport exported = SomeImport("1", 0.1234567890);
  exported.exported = true;
  exported.run.sweep = "ours";
  exported.layout = "layout1";
  NewImport elsewhere = exported;
  elsewhere.run.sweep = "of another server";
  elsewhere.run.row_hash = "2";
  NewImport slower = exported;
  slower.step_s = 0.13;
  slower.run.row_hash = "3";
  NewImport theirs = exported;
  theirs.exported = false;
  theirs.run.row_hash = "4";
  EXPECT_EQ(*store_->Import({exported}), 0);
  EXPECT_EQ(*store_->Import({exported, elsewhere, slower, theirs}), 3);
}

TEST_P(ImportsTest, ReadsAsItWasStored) {
  const NewImport run = SomeImport("1", 0.5);
  NewImport failed = SomeImport("2", 0.5);
  failed.outcome = TrialState::kOom;
  failed.mfu.reset();
  failed.step_s.reset();
  failed.peak_bytes.reset();
  ASSERT_EQ(*store_->Import({run, failed}), 2);
  const std::vector<MeasuredRow> rows = Where("");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].source, MeasurementSource::kImported);
  EXPECT_EQ(rows[0].imported, run.run);
  EXPECT_EQ(rows[0].sweep, "");
  EXPECT_EQ(rows[0].model, "theirs");
  EXPECT_EQ(rows[0].cluster, "h100");
  EXPECT_EQ(rows[0].devices, 4);
  EXPECT_EQ(rows[0].trial.layout, kLayout);
  EXPECT_EQ(rows[0].trial.state, TrialState::kOk);
  EXPECT_EQ(rows[0].trial.measured->mfu, 0.5);
  EXPECT_EQ(rows[0].trial.measured->step_s, 0.5);
  EXPECT_EQ(rows[0].trial.measured->peak_bytes, 1000);
  EXPECT_EQ(rows[1].trial.state, TrialState::kOom);
  EXPECT_FALSE(rows[1].trial.measured->mfu.has_value());
  EXPECT_FALSE(rows[1].trial.measured->peak_bytes.has_value());
}

TEST_P(ImportsTest, ConditionsAndOrdersGoOverTrialsAndImportsTogether) {
  const SweepRecord sweep = Create("ours", 1);
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, 1, 1, 0.75, 0.4)).ok());
  ASSERT_TRUE(store_->Import({SomeImport("1", 0.5), SomeImport("2", 0.25)}).ok());
  std::vector<std::string> found;
  for (const MeasuredRow& row : Where("")) {
    found.push_back(row.imported ? row.imported->row_hash : row.sweep);
  }
  EXPECT_THAT(found, ElementsAre("2", "ours", "1"));
  found.clear();
  for (const MeasuredRow& row : Where("", MeasurementOrder::kStepTime)) {
    found.push_back(row.imported ? row.imported->row_hash : row.sweep);
  }
  EXPECT_THAT(found, ElementsAre("2", "ours", "1"));
  EXPECT_EQ(Where("tp = 2 and dtype = bf16 and step_s < 0.3").size(), 1u);
  EXPECT_EQ(Where("model = theirs and cluster = h100 and outcome = ok").size(), 2u);
  EXPECT_EQ(Where("worker_version = \"\"").size(), 2u);
  EXPECT_EQ(Where("source = ran").size(), 1u);
  // They are of no sweep here, and no sweep takes them along.
  EXPECT_EQ(Where("", MeasurementOrder::kMfu, sweep.id).size(), 1u);
  ASSERT_TRUE(store_->CancelSweep(sweep.id, "enough", At(9), "").ok());
  ASSERT_TRUE(store_->DeleteSweep(sweep.id, At(10), "").ok());
  EXPECT_EQ(Where("").size(), 2u);
}

// Whatever the row is of: only what this project's worker ran stands for a new trial.
TEST_P(ImportsTest, AreNeverReused) {
  SweepRecord sweep = SomeSweep("ours");
  std::vector<TrialRecord> trials = SomeTrials(1);
  trials[0].plan_json = R"({"model":{"layers":2},"training":{"seq_len":64}})";
  sweep = *store_->CreateSweep(sweep, trials);
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, 1, 1, 0.25, 0.5)).ok());
  NewImport run = SomeImport("1", 0.5);
  run.model_hash = sweep.model_hash;
  run.cluster_hash = sweep.cluster_hash;
  run.training_hash = sweep.training_hash;
  run.devices = sweep.devices;
  ASSERT_EQ(*store_->Import({run}), 1);
  ResultShape shape = {.model_hash = sweep.model_hash,
                       .cluster_hash = sweep.cluster_hash,
                       .training_hash = sweep.training_hash,
                       .worker_version = "w",
                       .devices = sweep.devices,
                       .memory_limit_bytes = sweep.memory_limit_bytes,
                       .seed = sweep.seed,
                       .steps = sweep.steps};
  const auto found = *store_->ListEarlierResults(shape);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].layout, "layout1");
  shape.worker_version = "";  // as the import has it
  EXPECT_THAT(*store_->ListEarlierResults(shape), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Stores, ImportsTest, EveryStore(), NameOfStore);

class Schema10Test : public testing::Test {
 protected:
  static constexpr size_t kVersion = 10;

  void SetUp() override {
    path_ = testing::TempDir() + "/schema-10-" + std::to_string(getpid()) + ".db";
    TearDown();
  }
  void TearDown() override {
    for (const char* suffix : {"", "-wal", "-shm", ".before-v11"}) {
      std::filesystem::remove(path_ + suffix);
    }
  }

  std::string path_;
};

// A sweep with a result, as the program of that version left it.
TEST_F(Schema10Test, KeepsItsMeasurementsAndTakesImports) {
  {
    const auto connection =
        *SqliteConnection::Open(path_, SqliteConnection::Mode::kReadWriteCreate);
    MigrationScripts scripts = SchemaMigrations();
    ASSERT_GT(scripts.size(), kVersion);
    scripts.resize(kVersion);
    ASSERT_TRUE(Migrate(connection.get(), scripts).ok());
    const absl::Status filled = connection->Execute(R"sql(
      INSERT INTO clusters VALUES ('c', '{}');
      INSERT INTO profiles VALUES ('p', '{}');
      INSERT INTO sweeps (id, name, state, reason, create_time_us, end_time_us, model, cluster,
        profile, cluster_hash, profile_hash, devices, device_kind, seq_len, global_batch, precision,
        steps, seed, planner_version)
      VALUES (1, 'old', 'finished', 'done', 1, 2, 'tiny', 'local-cpu', 'meshwright', 'c', 'p', 4,
        'cpu', 64, 8, 'fp32', 5, 1, '0.1.0');
      INSERT INTO candidates (sweep_id, number, layout, plan_json, predicted_json)
      VALUES (1, 1, 'tp1.pp1.dp4', '{}', '{}');
      INSERT INTO trials (sweep_id, number, state, reason, attempt) VALUES (1, 1, 'ok', 'done', 1);
      INSERT INTO measurements (id, source, sweep_id, trial, model, cluster, model_hash,
        cluster_hash, training_hash, worker_version, devices, seq_len, global_batch, precision,
        layout, tp, outcome, mfu, step_s)
      VALUES (1, 'ran', 1, 1, 'tiny', 'local-cpu', '', 'c', '', 'w', 4, 64, 8, 'fp32',
        'tp1.pp1.dp4', 1, 'ok', 0.75, 0.5);
      INSERT INTO results VALUES (1, '{"outcome":"ok"}');
    )sql");
    ASSERT_TRUE(filled.ok()) << filled;
    ASSERT_EQ(*connection->QueryInt("PRAGMA user_version"), static_cast<int64_t>(kVersion));
  }
  {
    const auto store = SqliteSweepStore::Open(path_);
    ASSERT_TRUE(store.ok()) << store.status();
    EXPECT_TRUE(std::filesystem::exists(CopyBeforeMigration(path_, kVersion)));
    ASSERT_EQ(*(*store)->Import({SomeImport("1", 0.5)}), 1);
    MeasurementQuery query;
    query.limit = 10;
    const std::vector<MeasuredRow> rows = *(*store)->ListMeasured(query);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].sweep, "old");
    EXPECT_EQ(rows[0].trial.measured->step_s, 0.5);
    EXPECT_TRUE(rows[1].imported.has_value());
  }
  const auto check = CheckStore(path_);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_THAT(check->problems, IsEmpty());
}

}  // namespace
}  // namespace meshwright::db

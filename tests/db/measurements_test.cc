// Conditions over measured trials: what SQL answers against a look at every row.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <random>

#include "base/text/field_error.h"
#include "db/condition_sql.h"
#include "db/sqlite_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "planner/layout/condition_parser.h"
#include "planner/layout/layout.h"
#include "planner/layout/layout_condition.h"
#include "planner/spec/option_choice.h"
#include "tests/db/measured_facets.h"
#include "tests/db/store_records.h"

namespace meshwright::db {
namespace {

using planner::Comparison;
using planner::Condition;
using planner::ConditionField;
using planner::ConditionForm;
using planner::ConditionValue;
using planner::ValueType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A row as a condition sees it: a value for each field, where it has one.
struct SeenRow {
  int64_t place = 0;  // by age
  std::string name;
  std::vector<std::optional<ConditionValue>> values;
  std::optional<double> mfu;
  std::optional<double> step_s;
};

bool CompareNaively(const Condition& condition, const SeenRow& row) {
  const std::optional<ConditionValue>& value = row.values[condition.field];
  if (!value) return false;
  const ConditionValue& other = condition.values.front();
  switch (condition.comparison) {
    case Comparison::kEqual:
      return *value == other;
    case Comparison::kNotEqual:
      return *value != other;
    case Comparison::kLess:
      return *value < other;
    case Comparison::kAtMost:
      return *value <= other;
    case Comparison::kMore:
      return *value > other;
    case Comparison::kAtLeast:
      return *value >= other;
    case Comparison::kIn:
      return std::find(condition.values.begin(), condition.values.end(), *value) !=
             condition.values.end();
  }
  return false;
}

bool HoldsNaively(const Condition& condition, const SeenRow& row) {
  const auto holds = [&](const Condition& part) { return HoldsNaively(part, row); };
  switch (condition.form) {
    case ConditionForm::kAll:
      return std::all_of(condition.parts.begin(), condition.parts.end(), holds);
    case ConditionForm::kAny:
      return std::any_of(condition.parts.begin(), condition.parts.end(), holds);
    case ConditionForm::kNot:
      return !holds(condition.parts.front());
    case ConditionForm::kCompare:
      return CompareNaively(condition, row);
  }
  return false;
}

size_t FieldNamed(std::string_view name) {
  const planner::ConditionFields& fields = MeasurementFields();
  return static_cast<size_t>(
      std::find_if(fields.begin(), fields.end(),
                   [&](const ConditionField& field) { return field.name == name; }) -
      fields.begin());
}

class MeasurementsTest : public testing::Test {
 protected:
  void SetUp() override {
    store_ = *SqliteSweepStore::Open(kInMemory);
    path_ = testing::TempDir() + "/measurements-" + std::to_string(getpid()) + ".db";
    Remove();
  }
  void TearDown() override {
    store_.reset();
    Remove();
  }
  void Remove() const {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }

  size_t Below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
  template <typename T>
  T OneOf(const std::vector<T>& values) {
    return values[Below(values.size())];
  }

  void AddSweep(const std::string& name, int32_t trials) {
    SweepRecord sweep = SomeSweep(name);
    sweep.model = OneOf<std::string>({"tiny", "llama-3.1-8b", "a \"b\""});
    sweep.cluster = OneOf<std::string>({"h100", "local-cpu"});
    sweep.devices = OneOf<int64_t>({4, 8});
    sweep.precision = OneOf<std::string>({"bf16", "fp32"});
    options_ = OneOf<planner::OptionValues>({{},
                                             {{"states", "bf16"}},
                                             {{"loss", "chunked:8"}, {"optimizer", "muon"}},
                                             {{"loss", "fused"}, {"train", "lora:16"}}});
    std::vector<TrialRecord> records = SomeTrials(trials);
    for (TrialRecord& trial : records) {
      trial.layout = RandomLayout();
      trial.plan_json = PlanOf(options_);
    }
    sweep = *store_->CreateSweep(sweep, records);
    for (TrialRecord& trial : records) {
      trial.sweep_id = sweep.id;
      if (Below(5) != 0) Measure(sweep, trial);
    }
  }

  static std::string PlanOf(const planner::OptionValues& options) {
    nlohmann::json training = {{"seq_len", 128}};
    for (const auto& [name, value] : options) training[name] = value;
    return nlohmann::json{{"model", {{"layers", 2}}}, {"training", training}}.dump();
  }

  std::string RandomLayout() {
    planner::Layout layout;
    layout.tp = OneOf<int32_t>({1, 2, 4, 8});
    layout.pp = OneOf<int32_t>({1, 2, 4});
    layout.dp = OneOf<int32_t>({1, 2});
    layout.attention = OneOf<planner::AttentionKernel>(
        {planner::AttentionKernel::kDefault, planner::AttentionKernel::kFlash2});
    layout.norm =
        OneOf<planner::NormKernel>({planner::NormKernel::kDefault, planner::NormKernel::kFused});
    layout.offload.activation_layers = OneOf<int32_t>({0, 0, 8});
    layout.offload.optimizer = OneOf<bool>({false, true});
    if (Below(3) == 0) layout.stages = planner::ParseStageSplit("17+15").value();
    layout.zero = static_cast<int32_t>(Below(4));
    layout.recompute = OneOf<planner::Recompute>(
        {planner::Recompute::kNone, planner::Recompute::kFull, planner::Recompute::kSelective});
    layout.schedule =
        OneOf<planner::ScheduleKind>({planner::ScheduleKind::k1f1b, planner::ScheduleKind::kGpipe});
    return Below(20) == 0 ? "of another time" : planner::FormatLayout(layout);
  }

  void Measure(const SweepRecord& sweep, const TrialRecord& trial) {
    ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, trial.number, 1)).ok());
    TrialTransition end = Finish(sweep.id, trial.number, 1, 0.0);
    end.to_state = OneOf<TrialState>(
        {TrialState::kOk, TrialState::kOk, TrialState::kOom, TrialState::kFailed});
    end.measured->mfu.reset();
    end.measured->step_s.reset();
    if (end.to_state == TrialState::kOk) {
      // Few values, so that some are equal.
      end.measured->mfu = 0.1 * static_cast<double>(Below(5));
      end.measured->step_s = 0.25 * static_cast<double>(1 + Below(4));
      if (Below(9) == 0) end.measured->mfu.reset();
    }
    end.measured->peak_bytes = static_cast<int64_t>(1000 * Below(4));
    end.measured->worker_version = OneOf<std::string>({"0.1.0", "0.2.0"});
    ASSERT_TRUE(store_->UpdateTrial(end).ok());
    Note(sweep, trial, end);
  }

  void Note(const SweepRecord& sweep, const TrialRecord& trial, const TrialTransition& end) {
    SeenRow row;
    row.place = static_cast<int64_t>(rows_.size());
    row.name = sweep.name + "/" + std::to_string(trial.number);
    row.values.resize(MeasurementFields().size());
    if (const auto layout = planner::ParseLayout(trial.layout); layout.ok()) {
      for (size_t i = 0; i < planner::LayoutFields().size(); ++i) {
        row.values[i] = planner::ConditionValueOf(i, *layout);
      }
    }
    const size_t outcome = FieldNamed("outcome");
    const auto& words = MeasurementFields()[outcome].words;
    row.values[outcome] =
        std::find(words.begin(), words.end(), TrialStateName(end.to_state)) - words.begin();
    row.mfu = end.measured->mfu;
    row.step_s = end.measured->step_s;
    if (row.mfu) row.values[FieldNamed("mfu")] = *row.mfu;
    if (row.step_s) row.values[FieldNamed("step_s")] = *row.step_s;
    row.values[FieldNamed("peak_bytes")] = *end.measured->peak_bytes;
    row.values[FieldNamed("model")] = sweep.model;
    row.values[FieldNamed("cluster")] = sweep.cluster;
    row.values[FieldNamed("gpus")] = sweep.devices;
    row.values[FieldNamed("seq_len")] = sweep.seq_len;
    row.values[FieldNamed("global_batch")] = sweep.global_batch;
    row.values[FieldNamed("dtype")] = sweep.precision;
    row.values[FieldNamed("source")] = int64_t{0};
    row.values[FieldNamed("worker_version")] = end.measured->worker_version;
    for (const std::string_view option : planner::OptionNames()) {
      row.values[FieldNamed(option)] = planner::DefaultOptionText(option);
    }
    for (const auto& [option, value] : options_) row.values[FieldNamed(option)] = value;
    rows_.push_back(std::move(row));
  }

  Condition RandomCondition(int depth) {
    const size_t kind = depth == 0 ? 3 : Below(5);
    if (kind >= 3) return RandomComparison();
    if (kind == 2) return {.form = ConditionForm::kNot, .parts = {RandomCondition(depth - 1)}};
    Condition joined = {.form = kind == 0 ? ConditionForm::kAll : ConditionForm::kAny};
    for (size_t i = 0; i < Below(4); ++i) joined.parts.push_back(RandomCondition(depth - 1));
    return joined;
  }

  Condition RandomComparison() {
    Condition compare = {.form = ConditionForm::kCompare};
    compare.field = Below(MeasurementFields().size());
    const ConditionField& field = MeasurementFields()[compare.field];
    const std::vector<Comparison> unordered = {Comparison::kEqual, Comparison::kNotEqual,
                                               Comparison::kIn};
    compare.comparison = field.has_order() ? static_cast<Comparison>(Below(7)) : OneOf(unordered);
    const size_t values = compare.comparison == Comparison::kIn ? 1 + Below(3) : 1;
    for (size_t i = 0; i < values; ++i) compare.values.push_back(RandomValue(compare.field));
    return compare;
  }

  // Mostly one that a row has.
  ConditionValue RandomValue(size_t index) {
    if (Below(6) != 0 && !rows_.empty()) {
      const std::optional<ConditionValue>& value = rows_[Below(rows_.size())].values[index];
      if (value) return *value;
    }
    const ConditionField& field = MeasurementFields()[index];
    switch (field.type) {
      case ValueType::kReal:
        return 0.3;
      case ValueType::kText:
        return std::string("nobody's");
      case ValueType::kWord:
        return static_cast<int64_t>(Below(field.words.size()));
      case ValueType::kWhole:
        break;
    }
    return int64_t{3};
  }

  std::vector<std::string> Naively(const Condition& condition, MeasurementOrder order) {
    std::vector<SeenRow> found;
    for (const SeenRow& row : rows_) {
      if (HoldsNaively(condition, row)) found.push_back(row);
    }
    std::stable_sort(found.begin(), found.end(), [&](const SeenRow& a, const SeenRow& b) {
      const auto& left = order == MeasurementOrder::kMfu ? a.mfu : a.step_s;
      const auto& right = order == MeasurementOrder::kMfu ? b.mfu : b.step_s;
      if (!left || !right) return left.has_value() && !right.has_value();
      return order == MeasurementOrder::kMfu ? *left > *right : *left < *right;
    });
    std::vector<std::string> names;
    names.reserve(found.size());
    for (const SeenRow& row : found) names.push_back(row.name);
    return names;
  }

  // All pages, of `size` rows each.
  std::vector<std::string> Listed(MeasurementQuery query, int32_t size) {
    query.limit = size;
    std::vector<std::string> names;
    while (true) {
      const auto rows = store_->ListMeasured(query);
      EXPECT_TRUE(rows.ok()) << rows.status();
      if (!rows.ok() || rows->empty()) return names;
      for (const MeasuredRow& row : *rows) {
        names.push_back(row.sweep + "/" + std::to_string(row.trial.number));
      }
      query.after = rows->back().place;
    }
  }

  // Whether `count` random conditions are answered as a look at every row answers them.
  void ExpectAnswersOf(int count) {
    for (int i = 0; i < 12; ++i) AddSweep("s" + std::to_string(i), 25);
    ASSERT_GT(rows_.size(), 150u);
    int answered = 0;
    for (int i = 0; i < count; ++i) {
      MeasurementQuery query;
      query.where = RandomCondition(3);
      query.order = i % 2 == 0 ? MeasurementOrder::kMfu : MeasurementOrder::kStepTime;
      const std::vector<std::string> expected = Naively(query.where, query.order);
      answered += !expected.empty() && expected.size() < rows_.size() ? 1 : 0;
      ASSERT_EQ(Listed(query, i % 3 == 0 ? 7 : 1000), expected)
          << CompileCondition(query.where, SearchedTable::kMeasurements, /*first_parameter=*/1)
                 .text;
    }
    EXPECT_GT(answered, count * 3 / 10);
  }

  std::mt19937 random_{7};
  std::string path_;  // for tests that want a file
  std::unique_ptr<SqliteSweepStore> store_;
  std::vector<SeenRow> rows_;
  planner::OptionValues options_;  // of the last sweep
};

TEST_F(MeasurementsTest, AnswersRandomConditionsAsALookAtEveryRowDoes) { ExpectAnswersOf(1000); }

TEST_F(MeasurementsTest, AnswersThemInAFileWithSeveralThreadsToo) {
  store_ = *SqliteSweepStore::Open(path_, LookOver::kBefore, {.threads = 3, .most_rows_alone = 0});
  ExpectAnswersOf(200);
}

TEST_F(MeasurementsTest, StretchesOfASearchFollowEachOther) {
  store_ = *SqliteSweepStore::Open(path_);
  for (int i = 0; i < 12; ++i) AddSweep("s" + std::to_string(i), 25);
  const auto connection = *SqliteConnection::Open(path_, SqliteConnection::Mode::kReadOnly);
  SqliteSweeps sweeps(connection.get());
  for (const MeasurementOrder order : {MeasurementOrder::kMfu, MeasurementOrder::kStepTime}) {
    MeasurementQuery query = {.where = *ParseMeasurementCondition("where", "peak_bytes >= 0"),
                              .order = order,
                              .limit = 1000};
    const std::vector<MeasurementPlace> all = *sweeps.FindPlaces(query);
    ASSERT_EQ(all.size(), rows_.size());
    // From the first row, from one with a figure and from one without.
    for (const std::optional<size_t> from :
         {std::optional<size_t>(), std::optional<size_t>(20), std::optional(all.size() - 20)}) {
      std::vector<MeasurementPlace> expected = all;
      if (from) {
        query.after = all[*from];
        expected.erase(expected.begin(), expected.begin() + static_cast<int64_t>(*from) + 1);
      }
      const std::vector<MeasurementQuery> stretches = *sweeps.StretchesOf(query, /*most_rows=*/0);
      EXPECT_GE(stretches.size(), from == all.size() - 20 ? 1u : 4u);
      std::vector<MeasurementPlace> found;
      for (size_t i = 0; i < stretches.size(); ++i) {
        EXPECT_EQ(stretches[i].after, i > 0 ? stretches[i - 1].until : query.after);
        // No two read the same equal rows.
        if (i > 0 && stretches[i].until && stretches[i].until->figure) {
          EXPECT_NE(stretches[i].until->figure, stretches[i].after->figure);
        }
        const std::vector<MeasurementPlace> part = *sweeps.FindPlaces(stretches[i]);
        found.insert(found.end(), part.begin(), part.end());
      }
      EXPECT_FALSE(stretches.back().until.has_value());
      EXPECT_EQ(found, expected);
    }
  }
}

TEST_F(MeasurementsTest, ASearchIsCutOnlyWhereThatSharesIt) {
  store_ = *SqliteSweepStore::Open(path_);
  for (int i = 0; i < 3; ++i) AddSweep("s" + std::to_string(i), 25);
  const auto connection = *SqliteConnection::Open(path_, SqliteConnection::Mode::kReadOnly);
  SqliteSweeps sweeps(connection.get());
  const auto stretches = [&](const MeasurementQuery& query, int64_t most_rows) {
    return sweeps.StretchesOf(query, most_rows)->size();
  };
  const auto where = [](const char* text) { return *ParseMeasurementCondition("where", text); };
  const planner::Condition some = where("peak_bytes > 0");
  EXPECT_GT(stretches({.where = some, .limit = 10}, 0), 1u);
  EXPECT_EQ(stretches({.where = some, .limit = 10}, 1000), 1u);
  EXPECT_EQ(stretches({.sweep_id = 1, .where = some, .limit = 10}, 0), 1u);
  EXPECT_EQ(stretches({.limit = 10}, 0), 1u);
  EXPECT_EQ(
      stretches({.where = where("model = tiny and cluster = h100 and outcome = ok"), .limit = 10},
                0),
      1u);
  EXPECT_EQ(stretches({.where = where("tp = 64"), .limit = 10}, 0), 0u);
}

TEST_F(MeasurementsTest, OneSweepsRowsAreThoseOfAllWithItsName) {
  for (int i = 0; i < 3; ++i) AddSweep("s" + std::to_string(i), 30);
  MeasurementQuery query;
  query.sweep_id = store_->GetSweep("s1")->id;
  query.where = *ParseMeasurementCondition("where", "tp >= 2");
  std::vector<std::string> expected = Naively(query.where, query.order);
  std::erase_if(expected, [](const std::string& name) { return !name.starts_with("s1/"); });
  ASSERT_GT(expected.size(), 3u);
  EXPECT_EQ(Listed(query, 2), expected);
}

TEST_F(MeasurementsTest, WhatFixesModelClusterAndOutcomeIsSeen) {
  const auto fixes = [](const char* text) {
    return FixesModelClusterAndOutcome(*ParseMeasurementCondition("where", text));
  };
  EXPECT_TRUE(fixes("model = a and tp = 2 and (cluster = b and outcome = ok)"));
  EXPECT_FALSE(fixes("model = a and cluster = b"));
  EXPECT_FALSE(fixes("model = a and cluster = b and outcome in (ok, oom)"));
  EXPECT_FALSE(fixes("(model = a or tp = 2) and cluster = b and outcome = ok"));
  EXPECT_FALSE(fixes("not (model = a and cluster = b and outcome = ok)"));
}

TEST_F(MeasurementsTest, APartOfAConditionIsAboutOneFacet) {
  using Facet = MeasurementFacet;
  const auto part = [](Facet facet, const char* text) {
    return CompileCondition(PartAbout(facet, *ParseMeasurementCondition("where", text)),
                            SearchedTable::kFacet,
                            /*first_parameter=*/1)
        .text;
  };
  const char mixed[] = "tp = 2 and mfu > 0.5 and model = a and (pp = 2 or zero = 1)";
  EXPECT_EQ(part(Facet::kLayout, mixed), "(tp IS ?1) AND ((pp IS ?2) OR (zero IS ?3))");
  EXPECT_EQ(part(Facet::kSettings, mixed), "(model = ?1)");
  // What one way of meeting it leaves open is open.
  EXPECT_EQ(part(Facet::kLayout, "tp = 2 or mfu > 0.5"), "1");
  EXPECT_EQ(part(Facet::kLayout, "tp = 2 or (pp = 3 and model = a)"), "(tp IS ?1) OR ((pp IS ?2))");
  EXPECT_EQ(part(Facet::kLayout, "not (tp = 2 and mfu > 0.5)"), "1");
  EXPECT_EQ(part(Facet::kLayout, "not (tp = 2 and pp = 2)"), "NOT ((tp IS ?1) AND (pp IS ?2))");
  EXPECT_EQ(part(Facet::kSettings, "outcome = ok and source = ran"), "1");
  EXPECT_EQ(part(Facet::kOrigin, "outcome = ok and (source = ran or tp = 2)"), "(outcome = ?1)");
  EXPECT_EQ(part(Facet::kOptions, "tp = 2 and loss = fused and optimizer != muon"),
            "(loss = ?1) AND (optimizer <> ?2)");
}

// Those of a deleted sweep may stay: a condition may then take a look at every row for nothing.
TEST_F(MeasurementsTest, TheFacetsOfEveryRowAreThere) {
  store_ = *SqliteSweepStore::Open(path_);
  for (int i = 0; i < 4; ++i) AddSweep("s" + std::to_string(i), 25);
  const int64_t gone = store_->GetSweep("s2")->id;
  ASSERT_TRUE(store_->CancelSweep(gone, "so", At(1), "").ok());
  ASSERT_TRUE(store_->DeleteSweep(gone, At(9), "").ok());
  store_.reset();
  ExpectFacetsOfAllRows(path_);
}

TEST_F(MeasurementsTest, BoundsOfTheFigureThatASearchBoundsLeaveItTheIndex) {
  const auto compiled = [](const char* text) {
    return CompileCondition(*ParseMeasurementCondition("where", text), SearchedTable::kMeasurements,
                            /*first_parameter=*/4, "mfu")
        .text;
  };
  EXPECT_EQ(compiled("mfu > 0.5"), "mfu IS NOT NULL AND +mfu > ?4");
  EXPECT_EQ(compiled("step_s > 0.5"), "step_s IS NOT NULL AND step_s > ?4");
  EXPECT_EQ(compiled("mfu = 0.5"), "mfu IS ?4");
  EXPECT_EQ(compiled("mfu in (0.5)"), "mfu IS NOT NULL AND mfu IN (?4)");
}

TEST_F(MeasurementsTest, WordsOfTheCallerAreParametersAlone) {
  const std::string text = "model = \"x' OR 1=1 --\" and outcome = ok and tp = 2 and mfu > 0.5";
  const ConditionSql sql = CompileCondition(*ParseMeasurementCondition("where", text),
                                            SearchedTable::kMeasurements, /*first_parameter=*/4);
  EXPECT_EQ(sql.text,
            "(tp IS ?4) AND (outcome = ?5) AND (mfu IS NOT NULL AND mfu > ?6) AND (model = ?7)");
  EXPECT_THAT(sql.values, ElementsAre(ConditionValue(int64_t{2}), ConditionValue("ok"),
                                      ConditionValue(0.5), ConditionValue("x' OR 1=1 --")));
}

TEST_F(MeasurementsTest, LongConditionsAreAnswered) {
  AddSweep("s", 10);
  std::string text = "tp = 1";
  while (text.size() + 10 < planner::kMostFilterBytes) text += " or tp = 1";
  MeasurementQuery query;
  query.where = *ParseMeasurementCondition("where", text);
  EXPECT_EQ(Listed(query, 100), Naively(query.where, query.order));
  std::string deep;
  for (int i = 0; i < planner::kMostFilterDepth - 1; ++i) deep += i % 2 == 0 ? "not " : "(";
  deep += "tp = 1";
  for (int i = 0; i < planner::kMostFilterDepth - 1; ++i) deep += i % 2 == 0 ? "" : ")";
  query.where = *ParseMeasurementCondition("where", deep);
  EXPECT_EQ(Listed(query, 100), Naively(query.where, query.order));
  // What takes most of SQLite's parser at every level.
  deep = "mfu < 1 or mfu > 2 and mfu in (1, 2)";
  for (int i = 1; i < planner::kMostFilterDepth; ++i) {
    deep.insert(0, "mfu = 1 or mfu > 2 and (").append(")");
  }
  query.where = *ParseMeasurementCondition("where", deep);
  EXPECT_EQ(Listed(query, 100), Naively(query.where, query.order));
}

TEST_F(MeasurementsTest, UnknownColumnsAreNamedBesideThoseThatThereAre) {
  const absl::Status status = ParseMeasurementCondition("filter", "tq >= 2").status();
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_EQ(FieldOf(status), "filter");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("there is tq, where tp, cp, pp, dp, ep, etp, mb, vpp, zero, sp, rc, "
                        "sched, attn, norm, hs, stages, offload, outcome, mfu, step_s, peak_bytes, "
                        "model, cluster, gpus, seq_len, global_batch, dtype, states, loss, "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("source or worker_version must be"));
  EXPECT_THAT(std::string(ParseMeasurementCondition("filter", "outcome = fine").status().message()),
              HasSubstr("there is fine, where ok, oom, failed, timeout or cancelled must be"));
}

}  // namespace
}  // namespace meshwright::db

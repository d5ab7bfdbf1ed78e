// What every store does with candidates that are trials only once they were chosen.
#include "db/shapes.h"
#include "gmock/gmock.h"
#include "tests/db/store_conformance.h"

namespace meshwright::db {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

class CandidatesTest : public StoreConformanceTest {
 protected:
  // Three candidates, the second of which is a trial at once.
  SweepRecord CreateOpen(const std::string& name) {
    SweepRecord sweep = SomeSweep(name);
    sweep.max_trials = 2;
    sweep.min_gain = 0.02;
    std::vector<TrialRecord> candidates = SomeTrials(3);
    for (TrialRecord& candidate : candidates) {
      candidate.is_open = candidate.number != 2;
      candidate.predicted_step_s = 0.5 * candidate.number;
      candidate.oom_probability = 0.125;
    }
    const auto made = store_->CreateSweep(sweep, candidates);
    EXPECT_TRUE(made.ok()) << made.status();
    return *made;
  }
  static TrialTransition Begin(int64_t sweep_id, int32_t number, int32_t attempt = 1) {
    TrialTransition transition = Assign(sweep_id, number, attempt);
    transition.begins = true;
    return transition;
  }
};

TEST_P(CandidatesTest, OnlyThoseThatBeganAreTrials) {
  const SweepRecord sweep = CreateOpen("one");
  EXPECT_EQ(sweep.candidates, 3);
  EXPECT_EQ(sweep.trial_counts.total(), 1);
  EXPECT_EQ(sweep.max_trials, 2);
  EXPECT_EQ(sweep.min_gain, 0.02);
  EXPECT_EQ(store_->ListTrials(sweep.id, TrialOrder::kNumber, 0, 10)->size(), 1u);
  EXPECT_TRUE(absl::IsNotFound(store_->GetTrial(sweep.id, 1).status()));
  const auto summaries = *store_->ListTrialSummaries(sweep.id);
  ASSERT_EQ(summaries.size(), 3u);
  EXPECT_FALSE(summaries[0].has_begun);
  EXPECT_TRUE(summaries[1].has_begun);
  EXPECT_EQ(summaries[2].layout, "layout3");
  EXPECT_EQ(summaries[2].attempt, 1);
  EXPECT_EQ(summaries[2].state, TrialState::kPending);
  EXPECT_THAT(summaries[2].predicted_step_s, Optional(1.5));
  EXPECT_THAT(summaries[2].oom_probability, Optional(0.125));
  EXPECT_EQ(store_->ListEvents(sweep.id, 0, 10)->front().message,
            "1 trials of tiny, and up to 1 chosen among 2 layouts");
}

TEST_P(CandidatesTest, ACandidateBeginsOnce) {
  const SweepRecord sweep = CreateOpen("one");
  // Nobody runs what has not begun.
  EXPECT_TRUE(absl::IsNotFound(store_->UpdateTrial(Assign(sweep.id, 3, 1))));
  ASSERT_TRUE(store_->UpdateTrial(Begin(sweep.id, 3)).ok());
  const TrialRecord trial = *store_->GetTrial(sweep.id, 3);
  EXPECT_EQ(trial.state, TrialState::kAssigned);
  EXPECT_EQ(trial.agent, "a");
  EXPECT_THAT(trial.predicted_step_s, Optional(1.5));
  EXPECT_TRUE(store_->ListTrialSummaries(sweep.id)->back().has_begun);
  const absl::Status again = store_->UpdateTrial(Begin(sweep.id, 3));
  EXPECT_TRUE(absl::IsAborted(again)) << again;
  EXPECT_THAT(std::string(again.message()), HasSubstr("assigned in attempt 1"));
  EXPECT_TRUE(absl::IsNotFound(store_->UpdateTrial(Begin(sweep.id, 4))));
  EXPECT_EQ(store_->GetSweep("one")->trial_counts.total(), 2);
  ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, 3, 1, 0.25)).ok());
  EXPECT_EQ(store_->ListMeasured({.limit = 10})->size(), 1u);
}

TEST_P(CandidatesTest, CancellingEndsTrialsAlone) {
  const SweepRecord sweep = CreateOpen("one");
  ASSERT_TRUE(store_->CancelSweep(sweep.id, "enough", At(5), "").ok());
  EXPECT_EQ(store_->GetSweep("one")->trial_counts.ToText(), "1 cancelled");
  EXPECT_FALSE(store_->ListTrialSummaries(sweep.id)->front().has_begun);
}

TEST_P(CandidatesTest, UnderTheNameOfADeletedSweepAttemptsGoOnFromItsLast) {
  const SweepRecord old = CreateOpen("one");
  ASSERT_TRUE(store_->UpdateTrial(Begin(old.id, 3)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Lose(old.id, 3, 1)).ok());
  ASSERT_TRUE(store_->CancelSweep(old.id, "enough", At(5), "").ok());
  ASSERT_TRUE(store_->DeleteSweep(old.id, At(9), "").ok());
  const SweepRecord again = CreateOpen("one");
  const std::vector<TrialSummary> summaries = *store_->ListTrialSummaries(again.id);
  for (const TrialSummary& summary : summaries) EXPECT_EQ(summary.attempt, 3);
  EXPECT_TRUE(store_->UpdateTrial(Begin(again.id, 1, 3)).ok());
  // One that began nothing forgets nothing of those before it.
  ASSERT_TRUE(store_->CancelSweep(again.id, "enough", At(10), "").ok());
  ASSERT_TRUE(store_->DeleteSweep(again.id, At(11), "").ok());
  SweepRecord open = SomeSweep("one");
  std::vector<TrialRecord> candidates = SomeTrials(1);
  candidates[0].is_open = true;
  const SweepRecord idle = *store_->CreateSweep(open, candidates);
  ASSERT_TRUE(store_->CancelSweep(idle.id, "enough", At(12), "").ok());
  ASSERT_TRUE(store_->DeleteSweep(idle.id, At(13), "").ok());
  const SweepRecord last = *store_->CreateSweep(open, candidates);
  EXPECT_EQ(store_->ListTrialSummaries(last.id)->front().attempt, 4);
}

TEST_P(CandidatesTest, WhatIsUndoneHasNotBegun) {
  const SweepRecord sweep = CreateOpen("one");
  const auto events = store_->Atomically([&](SweepAccess& access) {
    EXPECT_TRUE(access.UpdateTrial(Begin(sweep.id, 1)).ok());
    return absl::CancelledError("enough");
  });
  EXPECT_TRUE(absl::IsCancelled(events.status()));
  EXPECT_FALSE(store_->ListTrialSummaries(sweep.id)->front().has_begun);
}

class EarlierResultsTest : public CandidatesTest {
 protected:
  static constexpr char kPlan[] = R"({"model":{"layers":2},"training":{"seq_len":64}})";

  // A sweep whose plans are of one model and training, with two trials.
  SweepRecord CreatePlanned(const std::string& name) {
    SweepRecord sweep = SomeSweep(name);
    std::vector<TrialRecord> trials = SomeTrials(2);
    for (TrialRecord& trial : trials) trial.plan_json = kPlan;
    return *store_->CreateSweep(sweep, trials);
  }
  void Measure(const SweepRecord& sweep, int32_t number, double step_s) {
    ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, number, 1)).ok());
    ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, number, 1, 0.25, step_s)).ok());
  }
  static ResultShape ShapeOfSweep(const SweepRecord& sweep) {
    return {.model_hash = sweep.model_hash,
            .cluster_hash = sweep.cluster_hash,
            .training_hash = sweep.training_hash,
            .worker_version = "w",
            .devices = sweep.devices,
            .memory_limit_bytes = sweep.memory_limit_bytes,
            .seed = sweep.seed,
            .steps = sweep.steps};
  }
  size_t Found(const ResultShape& shape) const { return store_->ListEarlierResults(shape)->size(); }
};

TEST_P(EarlierResultsTest, AreTheNewestOfEachLayoutUnderTheSameShape) {
  const SweepRecord one = CreatePlanned("one");
  Measure(one, 1, 0.7);
  Measure(one, 2, 0.5);
  const SweepRecord two = CreatePlanned("two");
  Measure(two, 1, 0.6);
  const auto found = *store_->ListEarlierResults(ShapeOfSweep(one));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].layout, "layout1");
  EXPECT_EQ(found[0].trial, "two/trials/1");
  EXPECT_EQ(found[0].measured.step_s, 0.6);
  EXPECT_EQ(found[0].measured.step_noise, 0.03);
  EXPECT_EQ(found[0].measured.result_json, R"({"outcome":"ok"})");
  EXPECT_EQ(found[1].trial, "one/trials/2");
  EXPECT_EQ(found[1].state, TrialState::kOk);
}

TEST_P(EarlierResultsTest, AreNotThoseOfAnotherShape) {
  const SweepRecord one = CreatePlanned("one");
  Measure(one, 1, 0.7);
  const ResultShape same = ShapeOfSweep(one);
  ASSERT_EQ(Found(same), 1u);
  ResultShape other = same;
  other.model_hash = "another";
  EXPECT_EQ(Found(other), 0u);
  other = same;
  other.cluster_hash = "another";
  EXPECT_EQ(Found(other), 0u);
  other = same;
  other.training_hash = "another";
  EXPECT_EQ(Found(other), 0u);
  other = same;
  other.worker_version = "w2";
  EXPECT_EQ(Found(other), 0u);
  other = same;
  other.devices = 8;
  EXPECT_EQ(Found(other), 0u);
  other = same;
  other.memory_limit_bytes = 1;
  EXPECT_EQ(Found(other), 0u);
  other = same;
  other.steps = same.steps + 1;
  EXPECT_EQ(Found(other), 0u);
  other = same;
  other.seed = 7;
  EXPECT_EQ(Found(other), 0u);
  other = same;
  other.adaptive = true;
  EXPECT_EQ(Found(other), 1u);
}

TEST_P(EarlierResultsTest, OfFewerStepsAreForSweepsThatDoWithFewer) {
  SweepRecord sweep = SomeSweep("one");
  std::vector<TrialRecord> trials = SomeTrials(1);
  trials[0].plan_json = R"({"adaptive":true,"model":{"layers":2},"training":{"seq_len":64}})";
  const SweepRecord one = *store_->CreateSweep(sweep, trials);
  Measure(one, 1, 0.7);
  ResultShape shape = ShapeOfSweep(one);
  EXPECT_EQ(Found(shape), 0u);
  shape.adaptive = true;
  EXPECT_EQ(Found(shape), 1u);
}

TEST_P(EarlierResultsTest, AreStoredWithTheTrialThatTakesThem) {
  SweepRecord sweep = SomeSweep("again");
  std::vector<TrialRecord> trials = SomeTrials(2);
  trials[0].state = TrialState::kOk;
  trials[0].reused_from = "one/trials/1";
  trials[0].measured = MeasuredTrial{"{}", "w", 0.25, 0.7, std::nullopt, 1000};
  const SweepRecord made = *store_->CreateSweep(sweep, trials);
  EXPECT_EQ(made.reused, 1);
  EXPECT_EQ(made.trial_counts.ToText(), "1 pending, 1 ok");
  const TrialRecord trial = *store_->GetTrial(made.id, 1);
  EXPECT_EQ(trial.reused_from, "one/trials/1");
  EXPECT_EQ(trial.measured, trials[0].measured);
  EXPECT_TRUE(store_->ListTrialSummaries(made.id)->front().measured);
  const auto rows = *store_->ListMeasured({.limit = 10});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].source, MeasurementSource::kReused);
  // What was not measured there is no result to take once more.
  ResultShape shape = ShapeOfSweep(made);
  EXPECT_EQ(Found(shape), 0u);
}

INSTANTIATE_TEST_SUITE_P(Stores, EarlierResultsTest, EveryStore(), NameOfStore);
class SweepShapesTest : public EarlierResultsTest {
 protected:
  SweepRecord CreateAt(const std::string& name, int64_t second, const std::string& kind = "cpu") {
    SweepRecord sweep = SomeSweep(name);
    sweep.create_time = At(second);
    sweep.device_kind = kind;
    std::vector<TrialRecord> trials = SomeTrials(3);
    for (TrialRecord& trial : trials) {
      trial.plan_json = kPlan;
      if (trial.number < 3) trial.predicted_step_s = 0.25;
    }
    return *store_->CreateSweep(sweep, trials);
  }
  std::vector<std::string> Names(const SweepRecord& of, int32_t limit) {
    std::vector<std::string> names;
    const auto shapes = *store_->ListSweepShapes(of.id, limit);
    names.reserve(shapes.size());
    for (const SweepShape& shape : shapes) names.push_back(shape.name);
    return names;
  }
};

TEST_P(SweepShapesTest, AreOfTheSweepAndOfThoseThatHadEndedWhenItWasMade) {
  const SweepRecord ended = CreateAt("ended", 0);
  ASSERT_TRUE(store_->CancelSweep(ended.id, "enough", At(5), "").ok());
  const SweepRecord runs = CreateAt("runs", 1);
  const SweepRecord other_kind = CreateAt("kind", 1, "cuda");
  ASSERT_TRUE(store_->CancelSweep(other_kind.id, "enough", At(5), "").ok());
  const SweepRecord last = CreateAt("last", 2);
  ASSERT_TRUE(store_->CancelSweep(last.id, "enough", At(9), "").ok());
  const SweepRecord own = CreateAt("own", 10);
  const SweepRecord later = CreateAt("later", 11);
  EXPECT_THAT(Names(own, 100), ElementsAre("own", "last", "ended"));
  EXPECT_THAT(Names(own, 2), ElementsAre("own", "last"));
  // What ends after it was made changes nothing.
  ASSERT_TRUE(store_->CancelSweep(runs.id, "enough", At(12), "").ok());
  ASSERT_TRUE(store_->CancelSweep(later.id, "enough", At(12), "").ok());
  EXPECT_THAT(Names(own, 100), ElementsAre("own", "last", "ended"));
  const auto shapes = *store_->ListSweepShapes(own.id, 1);
  const SweepShape& shape = shapes.front();
  EXPECT_EQ(shape.id, own.id);
  EXPECT_EQ(shape.model, R"({"layers":2})");
  EXPECT_EQ(shape.training, R"({"seq_len":64})");
  EXPECT_EQ(shape.cluster_hash, own.cluster_hash);
  EXPECT_EQ(shape.profile_hash, own.profile_hash);
  EXPECT_EQ(shape.devices, own.devices);
  EXPECT_EQ(shape.seq_len, own.seq_len);
  EXPECT_EQ(shape.global_batch, own.global_batch);
  EXPECT_EQ(shape.precision, own.precision);
}

TEST_P(SweepShapesTest, ResultsBesidePredictionsAreTheFastestOfOneVersion) {
  const SweepRecord sweep = CreateAt("one", 0);
  Measure(sweep, 1, 0.7);
  Measure(sweep, 2, 0.5);
  Measure(sweep, 3, 0.1);  // of which nothing was predicted
  const auto found = *store_->ListPredictedResults(sweep.id, "w", 8);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].layout, "layout2");
  EXPECT_EQ(found[0].step_s, 0.5);
  EXPECT_EQ(found[0].step_noise, 0.03);
  EXPECT_EQ(found[0].predicted_step_s, 0.25);
  EXPECT_EQ(found[1].step_s, 0.7);
  EXPECT_EQ(store_->ListPredictedResults(sweep.id, "w", 1)->size(), 1u);
  EXPECT_THAT(store_->ListTrialSummaries(sweep.id)->front().step_noise, Optional(0.03));
  EXPECT_TRUE(store_->ListPredictedResults(sweep.id, "w2", 8)->empty());
}

INSTANTIATE_TEST_SUITE_P(Stores, SweepShapesTest, EveryStore(), NameOfStore);
INSTANTIATE_TEST_SUITE_P(Stores, CandidatesTest, EveryStore(), NameOfStore);

}  // namespace
}  // namespace meshwright::db

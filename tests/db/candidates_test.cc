// What every store does with candidates that are trials only once they were chosen.
#include "db/shapes.h"
#include "gmock/gmock.h"
#include "tests/db/store_conformance.h"

namespace meshwright::db {
namespace {

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
  const auto heads = *store_->ListTrialHeads(sweep.id);
  ASSERT_EQ(heads.size(), 3u);
  EXPECT_FALSE(heads[0].has_begun);
  EXPECT_TRUE(heads[1].has_begun);
  EXPECT_EQ(heads[2].layout, "layout3");
  EXPECT_EQ(heads[2].attempt, 1);
  EXPECT_EQ(heads[2].state, TrialState::kPending);
  EXPECT_THAT(heads[2].predicted_step_s, Optional(1.5));
  EXPECT_THAT(heads[2].oom_probability, Optional(0.125));
  EXPECT_EQ(store_->ListEvents(sweep.id, 0, 10)->front().message,
            "1 trials of tiny, and up to 2 chosen among 2 layouts");
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
  EXPECT_TRUE(store_->ListTrialHeads(sweep.id)->back().has_begun);
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
  EXPECT_FALSE(store_->ListTrialHeads(sweep.id)->front().has_begun);
}

TEST_P(CandidatesTest, UnderTheNameOfADeletedSweepAttemptsGoOnFromItsLast) {
  const SweepRecord old = CreateOpen("one");
  ASSERT_TRUE(store_->UpdateTrial(Begin(old.id, 3)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Lose(old.id, 3, 1)).ok());
  ASSERT_TRUE(store_->CancelSweep(old.id, "enough", At(5), "").ok());
  ASSERT_TRUE(store_->DeleteSweep(old.id, At(9), "").ok());
  const SweepRecord again = CreateOpen("one");
  const std::vector<TrialHead> heads = *store_->ListTrialHeads(again.id);
  for (const TrialHead& head : heads) EXPECT_EQ(head.attempt, 3);
  EXPECT_TRUE(store_->UpdateTrial(Begin(again.id, 1, 3)).ok());
}

TEST_P(CandidatesTest, WhatIsUndoneHasNotBegun) {
  const SweepRecord sweep = CreateOpen("one");
  const auto events = store_->Atomically([&](SweepAccess& access) {
    EXPECT_TRUE(access.UpdateTrial(Begin(sweep.id, 1)).ok());
    return absl::CancelledError("enough");
  });
  EXPECT_TRUE(absl::IsCancelled(events.status()));
  EXPECT_FALSE(store_->ListTrialHeads(sweep.id)->front().has_begun);
}

INSTANTIATE_TEST_SUITE_P(Stores, CandidatesTest, EveryStore(), NameOfStore);

}  // namespace
}  // namespace meshwright::db

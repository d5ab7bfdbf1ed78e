// What every store does with attempts, and with who holds which ranks of them.
#include "gmock/gmock.h"
#include "tests/db/store_conformance.h"

namespace meshwright::db {
namespace {

using ::testing::ElementsAre;

class AttemptsTest : public StoreConformanceTest {
 protected:
  // Three ranks of the four on agent a, the last on agent b.
  static TrialTransition AssignToTwo(int64_t sweep_id, int32_t number, int32_t attempt) {
    TrialTransition transition = Assign(sweep_id, number, attempt);
    transition.members = {{.agent = "a", .host = "h", .first_rank = 0, .ranks = 3},
                          {.agent = "b", .host = "i", .first_rank = 3, .ranks = 1}};
    return transition;
  }
};

TEST_P(AttemptsTest, AnAttemptSaysWhyItWasGivenOut) {
  const SweepRecord sweep = Create("one");
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, 1, 1, 0.5)).ok());
  const auto attempts = *store_->ListAttempts(sweep.id, 1);
  ASSERT_EQ(attempts.size(), 1u);
  EXPECT_EQ(attempts[0].decision, "agent a is idle");
  EXPECT_EQ(attempts[0].policy_version, 7);
  EXPECT_EQ(attempts[0].reason, "measured");
}

TEST_P(AttemptsTest, KeepsAttemptsAndResults) {
  const SweepRecord sweep = Create("one");
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Lose(sweep.id, 1, 1)).ok());
  EXPECT_EQ(store_->GetTrial(sweep.id, 1)->lost_attempts, 1);
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 2)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, 1, 2, 0.25)).ok());

  const auto trial = store_->GetTrial(sweep.id, 1);
  ASSERT_TRUE(trial->measured.has_value());
  EXPECT_EQ(trial->measured->mfu, 0.25);
  EXPECT_EQ(trial->measured->result_json, R"({"outcome":"ok"})");
  EXPECT_EQ(trial->host, "h");
  const auto attempts = store_->ListAttempts(sweep.id, 1);
  ASSERT_EQ(attempts->size(), 2u);
  EXPECT_EQ((*attempts)[0].outcome, "lost");
  EXPECT_EQ((*attempts)[1].outcome, "ok");
  EXPECT_EQ(store_->GetSweep("one")->trial_counts.ended(), 1);
}

TEST_P(AttemptsTest, ANumberIsOneAttempts) {
  const SweepRecord sweep = Create("one");
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  TrialTransition back = Assign(sweep.id, 1, 1);
  back.from_state = TrialState::kAssigned;
  back.to_state = TrialState::kPending;
  ASSERT_TRUE(store_->UpdateTrial(back).ok());
  const auto twice = store_->Atomically([&](SweepAccess& access) {
    const absl::Status again = access.UpdateTrial(Assign(sweep.id, 1, 1));
    EXPECT_TRUE(absl::IsAlreadyExists(again)) << again;
    return absl::OkStatus();
  });
  ASSERT_TRUE(twice.ok());
  EXPECT_TRUE(twice->empty());
  EXPECT_EQ(store_->GetTrial(sweep.id, 1)->state, TrialState::kPending);
  EXPECT_EQ(store_->ListAttempts(sweep.id, 1)->size(), 1u);
}

// What still comes from the old one's attempts is then none of the new one's.
TEST_P(AttemptsTest, UnderADeletedNameAttemptsGoOn) {
  for (const int32_t first : {1, 3}) {
    const SweepRecord sweep = Create("one");
    EXPECT_EQ(store_->GetTrial(sweep.id, 1)->attempt, first);
    ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, first)).ok());
    TrialTransition lost = Assign(sweep.id, 1, first);
    lost.from_state = TrialState::kAssigned;
    lost.to_state = TrialState::kPending;
    lost.to_attempt = first + 1;
    ASSERT_TRUE(store_->UpdateTrial(lost).ok());
    ASSERT_TRUE(store_->CancelSweep(sweep.id, "enough", At(5), "").ok());
    ASSERT_TRUE(store_->DeleteSweep(sweep.id, At(9), "").ok());
  }
  EXPECT_EQ(store_->GetTrial(Create("another").id, 1)->attempt, 1);
}

TEST_P(AttemptsTest, AnEarlierAttemptsResultEndsTheRunUnderWay) {
  const SweepRecord sweep = Create("one");
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Lose(sweep.id, 1, 1)).ok());
  TrialTransition second = Assign(sweep.id, 1, 2);
  second.agent = "b";
  ASSERT_TRUE(store_->UpdateTrial(second).ok());
  TrialTransition late = Finish(sweep.id, 1, 2, 0.25);
  late.to_attempt = 1;
  late.agent = "a";
  ASSERT_TRUE(store_->UpdateTrial(late).ok());
  const auto trial = store_->GetTrial(sweep.id, 1);
  EXPECT_EQ(trial->attempt, 1);
  EXPECT_EQ(trial->agent, "a");
  EXPECT_EQ(trial->host, "h");
  const auto attempts = store_->ListAttempts(sweep.id, 1);
  EXPECT_EQ((*attempts)[0].outcome, "ok");
  EXPECT_EQ((*attempts)[1].outcome, "cancelled");
  EXPECT_EQ((*attempts)[1].reason, "the result of attempt 1 came");
  EXPECT_EQ(store_->ListEvents(sweep.id, 0, 10)->back().attempt, 1);
}

TEST_P(AttemptsTest, AnAttemptThatWasGivenUpTooSoonGoesOn) {
  const SweepRecord sweep = Create("one");
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Lose(sweep.id, 1, 1)).ok());
  TrialTransition back = Assign(sweep.id, 1, 2);
  back.to_state = TrialState::kRunning;
  back.to_attempt = 1;
  ASSERT_TRUE(store_->UpdateTrial(back).ok());
  EXPECT_EQ(store_->GetTrial(sweep.id, 1)->attempt, 1);
  const auto attempts = store_->ListAttempts(sweep.id, 1);
  ASSERT_EQ(attempts->size(), 1u);
  EXPECT_EQ(attempts->front().outcome, "");
  EXPECT_FALSE(attempts->front().end_time.has_value());
}

TEST_P(AttemptsTest, HeadsSayWhatDecides) {
  const SweepRecord sweep = Create("one", 3);
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Lose(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 2, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Finish(sweep.id, 2, 1, 0.25, 0.7)).ok());
  const auto summaries = store_->ListTrialSummaries(sweep.id);
  ASSERT_EQ(summaries->size(), 3u);
  EXPECT_EQ((*summaries)[0].attempt, 2);
  EXPECT_EQ((*summaries)[0].lost_attempts, 1);
  EXPECT_FALSE((*summaries)[0].measured);
  EXPECT_EQ((*summaries)[1].state, TrialState::kOk);
  EXPECT_TRUE((*summaries)[1].measured);
  EXPECT_EQ((*summaries)[1].step_s, 0.7);
  EXPECT_EQ((*summaries)[2].layout, "layout3");
  AttemptSummary lost{1, 1, "lost", {{"a", "h", 0, 4, /*failed=*/true}}};
  AttemptSummary measured{2, 1, "ok", {{"a", "h", 0, 4, /*failed=*/false}}};
  EXPECT_THAT(*store_->ListAttemptSummaries(sweep.id), ElementsAre(lost, measured));
  EXPECT_EQ(*store_->GetPlan(sweep.id, 1), "{}");
  EXPECT_TRUE(absl::IsNotFound(store_->GetPlan(sweep.id, 9).status()));
}

TEST_P(AttemptsTest, AnAttemptThatWasHandedBackWasNotLost) {
  const SweepRecord sweep = Create("one");
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  TrialTransition returned = Lose(sweep.id, 1, 1);
  returned.lost = false;
  ASSERT_TRUE(store_->UpdateTrial(returned).ok());
  EXPECT_EQ(store_->ListAttempts(sweep.id, 1)->front().outcome, kReturnedOutcome);
  EXPECT_EQ(store_->GetTrial(sweep.id, 1)->lost_attempts, 0);
}

TEST_P(AttemptsTest, KeepWhoWasGivenWhichRanksAndWhoFailed) {
  const SweepRecord sweep = Create("one");
  ASSERT_TRUE(store_->UpdateTrial(AssignToTwo(sweep.id, 1, 1)).ok());
  EXPECT_EQ(store_->GetTrial(sweep.id, 1)->agent, "a");
  TrialTransition lost = Lose(sweep.id, 1, 1);
  lost.failed_agent = "b";
  ASSERT_TRUE(store_->UpdateTrial(lost).ok());
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 2, 1)).ok());
  const std::vector<AttemptMember> members = {{"a", "h", 0, 3, /*failed=*/false},
                                              {"b", "i", 3, 1, /*failed=*/true}};
  EXPECT_EQ(store_->ListAttempts(sweep.id, 1)->at(0).members, members);
  const std::vector<AttemptSummary> summaries = *store_->ListAttemptSummaries(sweep.id);
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_EQ(summaries[0].members, members);
  EXPECT_THAT(summaries[1].members, ElementsAre(AttemptMember{"a", "h", 0, 4, /*failed=*/false}));
}

TEST_P(AttemptsTest, OfOneThatGoesOnNobodyFailed) {
  const SweepRecord sweep = Create("one");
  ASSERT_TRUE(store_->UpdateTrial(Assign(sweep.id, 1, 1)).ok());
  ASSERT_TRUE(store_->UpdateTrial(Lose(sweep.id, 1, 1)).ok());
  EXPECT_TRUE(store_->ListAttempts(sweep.id, 1)->at(0).members.at(0).failed);
  TrialTransition back = Assign(sweep.id, 1, 2);
  back.to_state = TrialState::kRunning;
  back.to_attempt = 1;
  ASSERT_TRUE(store_->UpdateTrial(back).ok());
  EXPECT_FALSE(store_->ListAttempts(sweep.id, 1)->at(0).members.at(0).failed);
}

INSTANTIATE_TEST_SUITE_P(Stores, AttemptsTest, EveryStore(), NameOfStore);

}  // namespace
}  // namespace meshwright::db

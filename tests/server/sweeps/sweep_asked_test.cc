// A sweep whose trials callers ask for, run with a launcher of their own and tell the results of.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/server/sweeps/sweep_engine_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::Duration kLease = absl::Hours(24);

class SweepAskedTest : public SweepEngineTest {
 protected:
  // A sweep whose trials are all there from the start.
  void CreateAsked(int32_t trials) {
    NewSweep made{db::SomeSweep("s"), db::SomeTrials(trials)};
    made.sweep.asked = true;
    ASSERT_TRUE(engine_->Create(made).ok());
  }
  // A sweep that chooses among three layouts of the same predicted step time.
  void CreateChoosing() {
    NewSweep made{db::SomeSweep("s"), db::SomeTrials(3)};
    made.sweep.asked = true;
    made.sweep.max_trials = 3;
    made.sweep.min_gain = 0.01;
    const char* const layouts[] = {"tp1.pp1.dp4.mb1", "tp2.pp2.dp1.mb8", "tp4.pp1.dp1.mb2"};
    for (db::TrialRecord& candidate : made.candidates) {
      candidate.layout = layouts[candidate.number - 1];
      candidate.is_open = true;
      candidate.predicted_step_s = 0.5 + 0.01 * candidate.number;
      candidate.oom_probability = 0.01;
    }
    ASSERT_TRUE(engine_->Create(made).ok());
  }
  absl::StatusOr<AskedTrial> Ask(const std::string& actor = "token ann") {
    return (**engine_)->AskTrial("s", actor, kLease);
  }
  absl::Status Tell(const AskedTrial& asked, const trial::TrialResult& result,
                    const std::string& actor = "token ann") {
    return (**engine_)->TellTrial(asked.key, asked.token, actor, result);
  }
  static trial::TrialResult Took(double step_s) {
    trial::TrialResult result;
    result.outcome = trial::TrialOutcome::kOk;
    result.step_s = step_s;
    result.ranks = {{.rank = 0, .peak_bytes = 7}};
    return result;
  }
  static trial::TrialResult RanOut() {
    trial::TrialResult result;
    result.outcome = trial::TrialOutcome::kOom;
    result.message = "CUDA out of memory";
    return result;
  }
  void Pass(absl::Duration time) {
    now_ += time;
    engine_->Tick();
  }
  db::SweepRecord Sweep() { return *store_->GetSweep("s"); }
};

TEST_F(SweepAskedTest, WhatWasHandedOutAndToldIsTheTrialsResult) {
  CreateAsked(1);
  const auto asked = Ask();
  ASSERT_TRUE(asked.ok()) << asked.status();
  EXPECT_EQ(asked->key, (wire::AttemptKey{"s", 1, 1}));
  EXPECT_EQ(asked->lease_end, db::At(0) + kLease);
  EXPECT_EQ(Trial(1).state, db::TrialState::kAssigned);
  EXPECT_EQ(Trial(1).agent, "token ann");
  const absl::Status told = Tell(*asked, Took(0.5), "token bob");
  ASSERT_TRUE(told.ok()) << told;
  EXPECT_EQ(Trial(1).state, db::TrialState::kOk);
  EXPECT_EQ(Trial(1).agent, "token bob");
  EXPECT_EQ(Trial(1).measured->step_s, 0.5);
  EXPECT_EQ(Trial(1).measured->peak_bytes, 7);
  EXPECT_EQ(Sweep().state, db::SweepState::kFinished);
  const auto rows = store_->ListMeasured({.limit = 10});
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ((*rows)[0].source, db::MeasurementSource::kTold);
  const auto events = store_->ListEvents(1, 0, 100);
  EXPECT_THAT(EventKinds(), ElementsAre("sweep_created", "sweep_waiting", "trial_assigned",
                                        "sweep_running", "trial_ended", "sweep_finished"));
  EXPECT_EQ((*events)[4].actor, "token bob");
}

TEST_F(SweepAskedTest, NoAgentGetsItsTrials) {
  CreateAsked(2);
  const auto a = Connect("a");
  Pass(absl::Seconds(1));
  EXPECT_THAT(a->assigned, IsEmpty());
  EXPECT_THAT(Sweep().reason, HasSubstr("waits until somebody asks"));
  EXPECT_THAT((**engine_)->Demand().sweeps, IsEmpty());
}

TEST_F(SweepAskedTest, TheSameResultToldTwiceIsOneAndAnotherIsRefused) {
  CreateAsked(2);
  const AskedTrial asked = *Ask();
  ASSERT_TRUE(Tell(asked, Took(0.5)).ok());
  EXPECT_TRUE(Tell(asked, Took(0.5)).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(Tell(asked, Took(0.6))));
  EXPECT_TRUE(absl::IsAlreadyExists(Tell(asked, RanOut())));
  EXPECT_EQ(Trial(1).measured->step_s, 0.5);
  // Likewise once the sweep has ended.
  const AskedTrial last = *Ask();
  ASSERT_TRUE(Tell(last, RanOut()).ok());
  ASSERT_EQ(Sweep().state, db::SweepState::kFinished);
  EXPECT_TRUE(Tell(last, RanOut()).ok());
  const absl::Status other = Tell(last, Took(0.6));
  EXPECT_TRUE(absl::IsAlreadyExists(other)) << other;
}

TEST_F(SweepAskedTest, ALeaseThatEndsPutsTheTrialBackAndVoidsItsToken) {
  CreateAsked(1);
  const AskedTrial first = *Ask("token ann");
  Pass(kLease - absl::Seconds(1));
  EXPECT_EQ(Trial(1).state, db::TrialState::kAssigned);
  Pass(absl::Seconds(1));
  EXPECT_EQ(Trial(1).state, db::TrialState::kPending);
  EXPECT_THAT(Trial(1).reason, HasSubstr("the lease of token ann ended in attempt 1"));
  EXPECT_EQ(Trial(1).lost_attempts, 0);
  const absl::Status late = Tell(first, Took(0.5));
  EXPECT_TRUE(absl::IsFailedPrecondition(late)) << late;
  EXPECT_THAT(late.message(), HasSubstr("attempt 1 is over"));
  const AskedTrial second = *Ask("token bob");
  EXPECT_EQ(second.key.attempt, 2);
  EXPECT_NE(second.token, first.token);
  EXPECT_TRUE(absl::IsFailedPrecondition(Tell(first, Took(0.5))));
  EXPECT_TRUE(Tell(second, Took(0.7)).ok());
  EXPECT_EQ(Trial(1).measured->step_s, 0.7);
}

TEST_F(SweepAskedTest, ALeaseOutlivesTheServer) {
  CreateAsked(1);
  const AskedTrial asked = *Ask();
  now_ += absl::Hours(23);
  StartEngine();
  Pass(absl::Minutes(59));
  EXPECT_EQ(Trial(1).state, db::TrialState::kAssigned);
  const auto renewed = (**engine_)->RenewLease(asked.key, asked.token, absl::Hours(2));
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  EXPECT_EQ(*renewed, db::At(0) + now_ + absl::Hours(2));
  StartEngine();
  Pass(absl::Minutes(119));
  EXPECT_EQ(Trial(1).state, db::TrialState::kAssigned);
  Pass(absl::Minutes(1));
  EXPECT_EQ(Trial(1).state, db::TrialState::kPending);
  EXPECT_TRUE(absl::IsFailedPrecondition(
      (**engine_)->RenewLease(asked.key, asked.token, absl::Hours(2)).status()));
}

TEST_F(SweepAskedTest, ATrialGivenBackGoesToTheNextWhoAsks) {
  CreateAsked(1);
  const AskedTrial first = *Ask();
  const absl::Status nothing = Ask("token bob").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(nothing)) << nothing;
  EXPECT_THAT(nothing.message(), HasSubstr("1 is handed out, and no other is left"));
  ASSERT_TRUE((**engine_)->GiveBack(first.key, first.token, "token ann").ok());
  EXPECT_THAT(Trial(1).reason, HasSubstr("token ann gave it back"));
  EXPECT_EQ(Ask("token bob")->key.attempt, 2);
}

TEST_F(SweepAskedTest, AWrongTokenChangesNothing) {
  CreateAsked(2);
  AskedTrial forged = *Ask();
  forged.token = Ask()->token;
  EXPECT_TRUE(absl::IsPermissionDenied(Tell(forged, Took(0.5))));
  EXPECT_TRUE(absl::IsPermissionDenied((**engine_)->GiveBack(forged.key, forged.token, "")));
  EXPECT_TRUE(
      absl::IsPermissionDenied((**engine_)->RenewLease(forged.key, forged.token, kLease).status()));
  forged.token = "";
  EXPECT_TRUE(absl::IsUnauthenticated(Tell(forged, Took(0.5))));
  EXPECT_EQ(Trial(1).state, db::TrialState::kAssigned);
}

TEST_F(SweepAskedTest, AResultThatCantBeRightMayBeToldAgain) {
  CreateAsked(1);
  const AskedTrial asked = *Ask();
  trial::TrialResult wrong = Took(0.5);
  wrong.ranks.front().peak_bytes = -1;
  const absl::Status told = Tell(asked, wrong);
  EXPECT_TRUE(absl::IsInvalidArgument(told)) << told;
  EXPECT_EQ(Trial(1).state, db::TrialState::kAssigned);
  EXPECT_TRUE(Tell(asked, Took(0.5)).ok());
}

TEST_F(SweepAskedTest, ACancelledSweepTakesNoResult) {
  CreateAsked(1);
  const AskedTrial asked = *Ask();
  ASSERT_TRUE(engine_->Cancel("s").ok());
  const absl::Status told = Tell(asked, Took(0.5));
  EXPECT_TRUE(absl::IsFailedPrecondition(told)) << told;
  EXPECT_THAT(told.message(), HasSubstr("cancelled"));
}

TEST_F(SweepAskedTest, TrialsAreChosenByWhatWasTold) {
  CreateChoosing();
  const auto first = Ask();
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(first->key.trial, 1);
  const auto second = Ask();
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_NE(second->key.trial, 1);
  for (const AskedTrial& asked : {*first, *second}) {
    ASSERT_TRUE(Tell(asked, Took(0.5 + 0.01 * asked.key.trial)).ok());
    engine_->Tick();
  }
  while (Sweep().state != db::SweepState::kFinished) {
    const auto next = Ask();
    ASSERT_TRUE(next.ok()) << next.status();
    ASSERT_TRUE(Tell(*next, Took(0.5 + 0.01 * next->key.trial)).ok());
    engine_->Tick();
  }
  EXPECT_LE(Sweep().trial_counts.total(), 3);
  EXPECT_TRUE(absl::IsNotFound(Ask().status()));
}

TEST_F(SweepAskedTest, TrialsOfAgentsAreNotHandedOut) {
  Create("s", 1);
  const absl::Status asked = Ask().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(asked)) << asked;
  EXPECT_THAT(asked.message(), HasSubstr("started with --ask"));
}

}  // namespace
}  // namespace meshwright::server

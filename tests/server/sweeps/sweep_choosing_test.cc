// A sweep that chooses its trials, run by the engine with its threads: questions, answers, stores
// and agents together.
#include "gmock/gmock.h"
#include "tests/server/sweeps/sweep_engine_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SweepChoosingTest : public SweepEngineTest {
 protected:
  // Four layouts, the last of which is hopeless.
  void CreateOpen(const std::string& name) {
    NewSweep made{db::SomeSweep(name), db::SomeTrials(4)};
    made.sweep.max_trials = 4;
    made.sweep.min_gain = 0.01;
    const char* const layouts[] = {"tp1.pp1.dp4.mb1", "tp2.pp2.dp1.mb8", "tp4.pp1.dp1.mb2",
                                   "tp1.pp4.dp1.mb1"};
    for (db::TrialRecord& candidate : made.candidates) {
      candidate.layout = layouts[candidate.number - 1];
      candidate.is_open = true;
      candidate.predicted_step_s = candidate.number == 4 ? 5.0 : 0.5 + 0.01 * candidate.number;
      candidate.oom_probability = 0.01;
    }
    ASSERT_TRUE(engine_->Create(made).ok());
  }
  static trial::TrialResult Took(double step_s) {
    trial::TrialResult result = OkResult(0.4);
    result.step_s = step_s;
    return result;
  }
  std::string StateOf(const std::string& name) {
    return std::string(db::SweepStateName(store_->GetSweep(name)->state));
  }
};

TEST_F(SweepChoosingTest, RunsWhatIsWorthItAndStops) {
  CreateOpen("s");
  EXPECT_EQ(store_->GetSweep("s")->trial_counts.total(), 0);
  const auto a = Connect("a");
  ASSERT_EQ(a->assigned.size(), 1u);
  EXPECT_EQ(a->assigned[0].trial, 1);
  const auto b = Connect("b");
  ASSERT_EQ(b->assigned.size(), 1u);
  EXPECT_NE(b->assigned[0].trial, 1);
  EXPECT_EQ(store_->GetSweep("s")->trial_counts.total(), 2);
  for (int round = 0; round < 4 && StateOf("s") != "finished"; ++round) {
    for (const auto& [name, link] : {std::pair("a", a), std::pair("b", b)}) {
      const wire::AttemptKey key = link->assigned.back();
      engine_->Finish(name, key, Took(0.5 + 0.01 * key.trial));
    }
  }
  const auto sweep = store_->GetSweep("s");
  EXPECT_EQ(StateOf("s"), "finished");
  EXPECT_THAT(sweep->reason,
              HasSubstr("no other layout is expected to be faster than the best by 1.0 %"));
  EXPECT_LE(sweep->trial_counts.total(), 3);
  const auto attempts = store_->ListAttempts(sweep->id, a->assigned[0].trial);
  EXPECT_THAT(attempts->front().decision, HasSubstr("the fastest by its estimate"));
}

TEST_F(SweepChoosingTest, ARestartedServerGoesOnFromWhatItHadMeasured) {
  CreateOpen("s");
  const auto a = Connect("a");
  engine_->Finish("a", a->assigned.back(), Took(0.9));
  ASSERT_EQ(a->assigned.size(), 2u);
  StartEngine();
  const auto again = Connect("a", {a->assigned.back()});
  engine_->Hear(HeartbeatCame{"a", {a->assigned.back()}});
  EXPECT_TRUE(again->assigned.empty());
  engine_->Finish("a", a->assigned.back(), Took(0.5));
  EXPECT_THAT(store_->GetSweep("s")->trial_counts.ToText(), HasSubstr("2 ok"));
  EXPECT_EQ(Trial(a->assigned[0].trial).state, db::TrialState::kOk);
}

TEST_F(SweepChoosingTest, ASweepInWhichNothingFitsEndsWithoutATrial) {
  NewSweep made{db::SomeSweep("s"), db::SomeTrials(1)};
  made.sweep.max_trials = 1;
  made.candidates[0].layout = "tp1.pp1.dp4";
  made.candidates[0].is_open = true;
  made.candidates[0].predicted_step_s = 1.0;
  made.candidates[0].oom_probability = 0.9;
  ASSERT_TRUE(engine_->Create(made).ok());
  EXPECT_EQ(StateOf("s"), "finished");
  EXPECT_THAT(store_->GetSweep("s")->reason, HasSubstr("no trial; every layout that is left"));
  EXPECT_THAT(EventKinds(), ElementsAre("sweep_created", "sweep_finished"));
}

}  // namespace
}  // namespace meshwright::server

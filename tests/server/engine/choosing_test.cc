// Sweeps that choose their trials as they go: what the core asks, and what it makes of the answers.
#include "server/engine/choosing.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/engine/engine_core.h"
#include "tests/server/engine/engine_records.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ChoosingTest : public testing::Test {
 protected:
  EngineOutput Tell(EngineEvent event) {
    return core_.Handle({db::At(0), {absl::ZeroDuration()}, std::move(event)});
  }
  // A sweep that may run `summaries`, of which it chooses so many.
  EngineOutput AddSweep(std::vector<db::TrialSummary> summaries, int32_t max_trials,
                        double min_gain = 0.01, int64_t id = 1) {
    db::SweepRecord sweep = SweepOf(id, 4);
    sweep.max_trials = max_trials;
    sweep.min_gain = min_gain;
    return Tell(SweepStored{sweep, std::move(summaries), {}});
  }
  EngineOutput Connect(const std::string& name, ConnectionId connection) {
    return Tell(AgentConnected{CpuAgent(name, 4), connection, {}});
  }
  EngineOutput Finish(const std::string& agent, const wire::AttemptKey& key, double step_s,
                      trial::TrialOutcome outcome = trial::TrialOutcome::kOk) {
    auto digested = std::make_shared<DigestedResult>();
    digested->result.outcome = outcome;
    if (outcome == trial::TrialOutcome::kOk) digested->measured.step_s = step_s;
    return Tell(TrialFinished{agent, key, digested});
  }
  // What follows once all that was asked is answered.
  EngineOutput Settle(const EngineOutput& output) {
    EngineOutput all = output;
    std::vector<ChoiceQuestion> questions = output.questions;
    while (!questions.empty()) {
      const ChoiceQuestion question = questions.front();
      questions.erase(questions.begin());
      EngineOutput next = Tell(Answer(question));
      questions.insert(questions.end(), next.questions.begin(), next.questions.end());
      all.ops.insert(all.ops.end(), next.ops.begin(), next.ops.end());
      all.sends.insert(all.sends.end(), next.sends.begin(), next.sends.end());
    }
    return all;
  }
  // Numbers of the trials that the output hands out.
  static std::vector<int32_t> Given(const EngineOutput& output) {
    std::vector<int32_t> given;
    for (const Send& send : output.sends) {
      if (const auto* assign = std::get_if<AssignOrder>(&send.order)) {
        given.push_back(assign->key.trial);
      }
    }
    return given;
  }
  static std::string EndReason(const EngineOutput& output) {
    for (const StoreOp& op : output.ops) {
      const auto* sweep = std::get_if<db::SweepTransition>(&op);
      if (sweep != nullptr && sweep->to_state == db::SweepState::kFinished) return sweep->reason;
    }
    return "";
  }
  static const db::TrialTransition* FirstTrial(const EngineOutput& output) {
    for (const StoreOp& op : output.ops) {
      if (const auto* transition = std::get_if<db::TrialTransition>(&op)) return transition;
    }
    return nullptr;
  }
  static wire::AttemptKey Key(int32_t trial, int32_t attempt = 1) { return {"s1", trial, attempt}; }

  EngineCore core_{EngineOptions()};
};

TEST_F(ChoosingTest, TheTrialThatIsWorthMostRunsNextAndTheSweepStopsByItself) {
  // 1 and 2 are near copies, 3 is another family, 4 is hopeless.
  EXPECT_THAT(Given(Settle(AddSweep(
                  {OpenSummary(1, "tp1.pp1.dp8.mb1", 1.0),
                   OpenSummary(2, "tp1.pp1.dp8.mb1.norm=eager", 1.001),
                   OpenSummary(3, "tp4.pp2.dp1.mb8", 1.02), OpenSummary(4, "tp8.pp1.dp1.mb1", 3.0)},
                  8))),
              IsEmpty());
  const EngineOutput first = Settle(Connect("a", 7));
  EXPECT_THAT(Given(first), ElementsAre(1));
  const db::TrialTransition* const begun = FirstTrial(first);
  ASSERT_NE(begun, nullptr);
  EXPECT_TRUE(begun->begins);
  EXPECT_EQ(begun->policy_version, kPlacementPolicyVersion);
  EXPECT_THAT(begun->reason, HasSubstr("the fastest by its estimate, 1 s"));
  EXPECT_THAT(begun->reason, HasSubstr("; agent a has the 4 cpu ranks free"));
  // It is slow, which speaks against its copy.
  const EngineOutput second = Settle(Finish("a", Key(1), 1.2));
  EXPECT_THAT(Given(second), ElementsAre(3));
  const EngineOutput third = Settle(Finish("a", Key(3), 0.9));
  EXPECT_THAT(Given(third), IsEmpty());
  EXPECT_THAT(EndReason(third), HasSubstr("2 trials: 2 ok; no other layout is expected to be "
                                          "faster than the best by 1.0 %: at most by"));
  EXPECT_EQ(core_.FindSweep("s1"), nullptr);
}

TEST_F(ChoosingTest, HowFarAStepTimeMayBeOffIsPartOfTheQuestion) {
  Settle(AddSweep({OpenSummary(1, "tp1.pp1.dp8.mb1", 1.0), OpenSummary(2, "tp4.pp2.dp1.mb8", 1.02)},
                  2));
  ASSERT_THAT(Given(Settle(Connect("a", 7))), ElementsAre(1));
  auto digested = std::make_shared<DigestedResult>();
  digested->result.outcome = trial::TrialOutcome::kOk;
  digested->measured.step_s = 1.0;
  digested->measured.step_noise = 0.125;
  const EngineOutput asked = Tell(TrialFinished{"a", Key(1), digested});
  ASSERT_THAT(asked.questions, SizeIs(1));
  EXPECT_THAT(asked.questions[0].findings,
              ElementsAre(testing::Field(&planner::TrialFinding::noise, 0.125)));
}

TEST_F(ChoosingTest, WhatASweepMeasuredBeforeARestartKeepsItsNoise) {
  std::vector<db::TrialSummary> summaries = {OpenSummary(1, "tp1.pp1.dp8.mb1", 1.0),
                                             OpenSummary(2, "tp4.pp2.dp1.mb8", 1.02)};
  summaries[0].has_begun = true;
  summaries[0].state = db::TrialState::kOk;
  summaries[0].measured = true;
  summaries[0].step_s = 1.0;
  summaries[0].step_noise = 0.125;
  const EngineOutput asked = AddSweep(std::move(summaries), 2);
  ASSERT_THAT(asked.questions, SizeIs(1));
  EXPECT_THAT(asked.questions[0].findings,
              ElementsAre(testing::Field(&planner::TrialFinding::noise, 0.125)));
}

TEST_F(ChoosingTest, IdleAgentsAreGivenLayoutsThatDiffer) {
  Settle(Connect("a", 7));
  Settle(Connect("b", 8));
  Settle(Connect("c", 9));
  const EngineOutput output = Settle(
      AddSweep({OpenSummary(1, "tp1.pp1.dp8.mb1", 1.0), OpenSummary(2, "tp1.pp1.dp8.mb1", 1.001),
                OpenSummary(3, "tp4.pp2.dp1.mb8", 1.02), OpenSummary(4, "tp8.pp1.dp1.mb1", 3.0)},
               8));
  EXPECT_THAT(Given(output), ElementsAre(1, 3));
  // While they run the sweep does not end.
  EXPECT_EQ(EndReason(output), "");
  // That the best of them is slower than believed makes the third worth it.
  EXPECT_THAT(Given(Settle(Finish("b", Key(3), 1.6))), IsEmpty());
  EXPECT_NE(EndReason(Settle(Finish("a", Key(1), 1.0))), "");
}

TEST_F(ChoosingTest, ItRunsNoMoreTrialsThanItMay) {
  Settle(Connect("a", 7));
  Settle(AddSweep({OpenSummary(1, "tp1.pp1.dp8", 1.0), OpenSummary(2, "tp4.pp2.dp1", 1.0)}, 1));
  EXPECT_THAT(EndReason(Settle(Finish("a", Key(1), 1.0))),
              HasSubstr("1 trial: 1 ok; the limit of 1 trial is reached"));
}

TEST_F(ChoosingTest, WhereNothingFitsItCostsNoTrialAndSaysSo) {
  std::vector<db::TrialSummary> summaries = {OpenSummary(1, "tp1.pp1.dp8", 1.0)};
  summaries[0].oom_probability = 0.9;
  EXPECT_EQ(
      EndReason(Settle(AddSweep(summaries, 8))),
      "no trial; every layout that is left runs out of memory with a probability of at least 0.5");
}

TEST_F(ChoosingTest, WhatWasAskedForRunsFirstAndIsLearnedFrom) {
  std::vector<db::TrialSummary> summaries = {OpenSummary(1, "tp1.pp1.dp8", 1.0),
                                             OpenSummary(2, "tp4.pp2.dp1", 2.0)};
  summaries[1].has_begun = true;
  Settle(Connect("a", 7));
  EXPECT_THAT(Given(Settle(AddSweep(summaries, 8))), ElementsAre(2));
  const EngineOutput next = Settle(Finish("a", Key(2), 2.0));
  EXPECT_THAT(Given(next), ElementsAre(1));
  EXPECT_THAT(FirstTrial(next)->event_data_json, HasSubstr("layout"));
  const EngineOutput chosen = Settle(Finish("a", Key(1), 1.0));
  EXPECT_THAT(EndReason(chosen), HasSubstr("2 trials: 2 ok"));
}

TEST_F(ChoosingTest, AResultThatComesBeforeTheAnswerIsAskedAboutAgain) {
  Settle(Connect("a", 7));
  Settle(AddSweep({OpenSummary(1, "tp1.pp1.dp8", 1.0), OpenSummary(2, "tp4.pp2.dp1", 1.3),
                   OpenSummary(3, "tp2.pp2.dp2.mb8", 1.35)},
                  8));
  const EngineOutput asked = Connect("b", 8);
  ASSERT_THAT(asked.questions, SizeIs(1));
  // One question of a sweep is open at a time.
  EXPECT_THAT(Tell(Tick()).questions, IsEmpty());
  ChoiceMade late = Answer(asked.questions[0]);
  late.trials.clear();
  late.stop_reason = "nothing was worth it then";
  EXPECT_THAT(Finish("a", Key(1), 2.0).questions, IsEmpty());
  const EngineOutput again = Tell(late);
  EXPECT_EQ(EndReason(again), "");
  ASSERT_THAT(again.questions, SizeIs(1));
  EXPECT_THAT(Given(Settle(again)), ElementsAre(2, 3));
}

TEST_F(ChoosingTest, AnAgentWaitsForWhatAnOlderSweepChooses) {
  Settle(Connect("a", 7));
  const std::vector<db::TrialSummary> summaries = {OpenSummary(1, "tp1.pp1.dp8", 1.0),
                                                   OpenSummary(2, "tp4.pp2.dp1", 1.3)};
  Settle(AddSweep(summaries, 8, 0.0, 1));
  EXPECT_THAT(Given(Settle(AddSweep(summaries, 8, 0.0, 2))), IsEmpty());
  // The agent is idle, and the younger sweep knows what it would run.
  const EngineOutput asked = Finish("a", Key(1), 2.0);
  EXPECT_THAT(Given(asked), IsEmpty());
  const EngineOutput answered = Settle(asked);
  ASSERT_THAT(Given(answered), ElementsAre(2));
  EXPECT_EQ(std::get<AssignOrder>(answered.sends.back().order).key.sweep, "s1");
  // Once the older one wants nothing more, it is the younger one's turn.
  const EngineOutput last = Settle(Finish("a", Key(2), 2.0));
  EXPECT_NE(EndReason(last), "");
  ASSERT_THAT(Given(last), ElementsAre(1));
  EXPECT_EQ(std::get<AssignOrder>(last.sends.back().order).key.sweep, "s2");
}

TEST_F(ChoosingTest, AQuestionIsAnsweredOnce) {
  Settle(Connect("a", 7));
  Settle(AddSweep({OpenSummary(1, "tp1.pp1.dp8", 1.0), OpenSummary(2, "tp4.pp2.dp1", 1.3)}, 8));
  const EngineOutput asked = Connect("b", 8);
  ASSERT_THAT(asked.questions, SizeIs(1));
  ChoiceMade answer = Answer(asked.questions[0]);
  EXPECT_THAT(Given(Tell(answer)), ElementsAre(2));
  answer.trials = {{1, "once more", 0.1}};
  EXPECT_THAT(Tell(answer).ops, IsEmpty());
}

TEST_F(ChoosingTest, CancellingLeavesCandidatesThatDidNotBeginAlone) {
  Settle(Connect("a", 7));
  Settle(AddSweep({OpenSummary(1, "tp1.pp1.dp8", 1.0), OpenSummary(2, "tp4.pp2.dp1", 1.3)}, 8));
  const EngineOutput output = Tell(CancelRequested{"s1"});
  int ended = 0;
  for (const StoreOp& op : output.ops) {
    const auto* event = std::get_if<db::EventRecord>(&op);
    ended += event != nullptr && event->kind == "trial_ended" ? 1 : 0;
  }
  EXPECT_EQ(ended, 1);
  // An answer that comes for a sweep that is gone changes nothing.
  EXPECT_THAT(Tell(ChoiceMade{1, 0, {{2, "late", 0.1}}, ""}).ops, IsEmpty());
}

TEST_F(ChoosingTest, WithoutAnAgentItSaysWhatItWaitsFor) {
  const EngineOutput output = Settle(AddSweep({OpenSummary(1, "tp1.pp1.dp8", 1.0)}, 8));
  std::string reason;
  for (const StoreOp& op : output.ops) {
    if (const auto* sweep = std::get_if<db::SweepTransition>(&op)) reason = sweep->reason;
  }
  EXPECT_EQ(reason, "needs 4, connected 0 (cpu devices)");
}

}  // namespace
}  // namespace meshwright::server

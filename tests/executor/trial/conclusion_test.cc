#include "executor/trial/conclusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <functional>

#include "executor/trial/rank_events.h"
#include "planner/block/parameters.h"
#include "tests/executor/test_models.h"

namespace meshwright::trial {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TrialPlan PlanOf(int32_t steps) {
  TrialPlan plan;
  plan.model = TinyModel();
  plan.training = TinyTraining();
  plan.layout = {.pp = 2};
  plan.steps = steps;
  return plan;
}

// Two pipeline ranks, the second of which knows the losses.
std::vector<RankRecord> TwoRanks() {
  std::vector<RankRecord> records(2);
  records[1].rank = 1;
  records[1].pipeline_rank = 1;
  return records;
}

void Apply(const nlohmann::json& event, RankRecord& record) { ApplyEvent(event.dump(), record); }

// All of it forward, but for a second of waiting in the pipeline.
StepEvent EventOf(int32_t step, double seconds) {
  StepProfile profile;
  profile.phases[Phase::kForward] = seconds - 1.0;
  profile.phases[Phase::kPipeline] = 1.0;
  profile.communication = {{.group = "tp", .calls = 2.0, .bytes = 10.0 * step}};
  return {.step = step, .step_s = seconds, .profile = profile};
}

void FinishStep(RankRecord& record, int32_t step, double seconds) {
  Apply({{"event", "begin"}, {"step", step}}, record);
  StepEvent event = EventOf(step, seconds);
  if (record.pipeline_rank == 1) event.loss = 4.0 - step;
  Apply(ToJson(event), record);
}

void Done(RankRecord& record, double flops) {
  Apply({{"event", "done"},
         {"stop_reason", "tight"},
         {"peak_bytes", 100},
         {"peak_in_flight", 2},
         {"measured_peak_flops", flops}},
        record);
  ApplyExit(0, record);
}

TEST(ConclusionTest, AFinishedTrialHasTheSlowestRanksMedianStep) {
  auto records = TwoRanks();
  for (const auto& [step, slow] : {std::pair{0, 9.0}, {1, 2.0}, {2, 4.0}, {3, 3.0}}) {
    FinishStep(records[0], step, slow);
    FinishStep(records[1], step, slow / 2);
  }
  Done(records[0], 1e9);
  Done(records[1], 3e9);
  const TrialPlan plan = PlanOf(4);
  const TrialResult result = Conclude(plan, records);
  EXPECT_EQ(result.outcome, TrialOutcome::kOk);
  EXPECT_THAT(result.step_times_s, ElementsAre(9.0, 2.0, 4.0, 3.0));
  EXPECT_THAT(result.losses, ElementsAre(4.0, 3.0, 2.0, 1.0));
  EXPECT_EQ(result.step_s, 3.0);
  EXPECT_EQ(result.step_interval, std::nullopt);
  EXPECT_EQ(result.stop_reason, StopReason::kTight);
  EXPECT_EQ(result.measured_peak_flops, 2e9);
  EXPECT_DOUBLE_EQ(result.mfu, planner::PalmStepFlops(plan.model, plan.training) / (3.0 * 2 * 2e9));
  EXPECT_EQ(result.ranks[1].peak_bytes, 100);
  // Means without the first step.
  EXPECT_DOUBLE_EQ(result.ranks[0].phases[Phase::kForward], 2.0);
  EXPECT_DOUBLE_EQ(result.ranks[1].phases[Phase::kForward], 0.5);
  EXPECT_DOUBLE_EQ(result.ranks[0].phases[Phase::kPipeline], 1.0);
  ASSERT_EQ(result.ranks[0].communication.size(), 1u);
  EXPECT_DOUBLE_EQ(result.ranks[0].communication[0].bytes, 20.0);
}

TEST(ConclusionTest, UtilisationIsToldOfTheMeasuredPeakAndOfTheClusters) {
  auto records = TwoRanks();
  for (RankRecord& record : records) {
    FinishStep(record, 0, 2.0);
    Done(record, 4e9);
  }
  TrialPlan plan = PlanOf(1);
  TrialResult result = Conclude(plan, records);
  const double palm_flops = planner::PalmStepFlops(plan.model, plan.training);
  const double causal_flops = planner::CausalStepFlops(plan.model, plan.training);
  EXPECT_DOUBLE_EQ(result.mfu_causal, causal_flops / (2.0 * 2 * 4e9));
  EXPECT_EQ(result.peak_flops, std::nullopt);
  plan.peak_flops = 10e9;
  result = Conclude(plan, records);
  EXPECT_DOUBLE_EQ(result.mfu, palm_flops / (2.0 * 2 * 4e9));
  EXPECT_EQ(result.peak_flops, 10e9);
  EXPECT_DOUBLE_EQ(result.mfu_of_peak, palm_flops / (2.0 * 2 * 10e9));
  EXPECT_DOUBLE_EQ(result.mfu_causal_of_peak, causal_flops / (2.0 * 2 * 10e9));
}

TEST(ConclusionTest, RanksTellTheirDevicesMemoryBesideThePlansFigure) {
  auto records = TwoRanks();
  FinishStep(records[0], 0, 1.0);
  FinishStep(records[1], 0, 1.0);
  Done(records[0], 1e9);
  Apply({{"event", "done"},
         {"stop_reason", "tight"},
         {"peak_bytes", 100},
         {"peak_reserved_bytes", 120},
         {"allocator_retries", 1},
         {"communicator_bytes", 30},
         {"peak_in_flight", 2},
         {"measured_peak_flops", 1e9}},
        records[1]);
  TrialPlan plan = PlanOf(1);
  plan.estimated_communicator_bytes = {0, 40};
  const TrialResult result = Conclude(plan, records);
  EXPECT_EQ(result.ranks[0].device_memory, std::nullopt);
  EXPECT_EQ(result.ranks[0].estimated_communicator_bytes, 0);
  const DeviceMemoryUse expected = {
      .peak_reserved_bytes = 120, .allocator_retries = 1, .communicator_bytes = 30};
  EXPECT_EQ(result.ranks[1].device_memory, expected);
  EXPECT_EQ(result.ranks[1].estimated_communicator_bytes, 40);
}

TEST(ConclusionTest, WaitingForALatePeerIsBubble) {
  auto records = TwoRanks();
  StepProfile sender;
  sender.messages = {{.group = "activations_up",
                      .peer = 1,
                      .sent = true,
                      .issued_s = {5.0},
                      .waits = {{.begin_s = 5.0, .end_s = 5.0}},
                      .done_s = {6.0}}};
  StepProfile receiver;
  receiver.phases[Phase::kPipeline] = 4.0;
  receiver.messages = {{.group = "activations_up",
                        .peer = 0,
                        .sent = false,
                        .issued_s = {2.0},
                        .waits = {{.begin_s = 2.0, .end_s = 6.0}},
                        .done_s = {6.0}}};
  Apply(ToJson(StepEvent{.step_s = 1.0, .profile = sender}), records[0]);
  Apply(ToJson(StepEvent{.step_s = 1.0, .profile = receiver}), records[1]);
  Done(records[0], 1e9);
  Done(records[1], 1e9);
  const TrialResult result = Conclude(PlanOf(1), records);
  EXPECT_DOUBLE_EQ(result.ranks[1].phases[Phase::kBubble], 3.0);
  EXPECT_DOUBLE_EQ(result.ranks[1].phases[Phase::kPipeline], 1.0);
}

TEST(ConclusionTest, AnOutOfMemoryExplainsLostPeers) {
  auto records = TwoRanks();
  Apply({{"event", "error"}, {"kind", "communication"}, {"message", "peer gone"}}, records[0]);
  Apply({{"event", "oom"},
         {"pipeline_rank", 1},
         {"requested_bytes", 10},
         {"held_bytes", 95},
         {"limit_bytes", 100}},
        records[1]);
  ApplyExit(1 << 8, records[0]);
  ApplyExit(1 << 8, records[1]);
  const TrialResult result = Conclude(PlanOf(1), records);
  EXPECT_EQ(result.outcome, TrialOutcome::kOom);
  ASSERT_TRUE(result.oom.has_value());
  EXPECT_EQ(result.oom->rank, 1);
  EXPECT_EQ(result.oom->requested_bytes, 10);
  EXPECT_THAT(result.message, HasSubstr("rank 1 (pipeline rank 1) ran out of memory"));
}

TEST(ConclusionTest, AnOutOfMemoryOfALibraryDoesNotSayHowMuchItAskedFor) {
  auto records = TwoRanks();
  Apply({{"event", "oom"},
         {"pipeline_rank", 0},
         {"requested_bytes", 0},
         {"held_bytes", 95},
         {"limit_bytes", 100}},
        records[0]);
  EXPECT_THAT(Conclude(PlanOf(1), records).message,
              HasSubstr("ran out of memory: memory requested with 95 held of 100 allowed"));
}

TEST(ConclusionTest, ACrashExplainsLostPeersAndShowsItsOutput) {
  auto records = TwoRanks();
  FinishStep(records[1], 0, 1.0);
  Apply({{"event", "begin"}, {"step", 1}}, records[1]);
  Apply({{"event", "error"}, {"kind", "communication"}, {"message", "peer gone"}}, records[0]);
  records[1].output_tail = "something went wrong";
  ApplyExit(SIGSEGV, records[1]);
  const TrialResult result = Conclude(PlanOf(3), records);
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("rank 1 (pipeline rank 1) was killed by signal 11"));
  EXPECT_THAT(result.message, HasSubstr("in step 1"));
  EXPECT_THAT(result.message, HasSubstr("something went wrong"));
}

// A host that went explains lost peers, and is explained by whatever a rank did itself.
TEST(ConclusionTest, ALostHostStandsBetweenCrashesAndLostPeers) {
  auto records = TwoRanks();
  Apply({{"event", "error"}, {"kind", "communication"}, {"message", "peer gone"}}, records[0]);
  ApplyLoss("can't go on: agent b was lost", Fault::kNetwork, records[1]);
  const TrialResult result = Conclude(PlanOf(3), records);
  EXPECT_EQ(result.fault, Fault::kNetwork);
  EXPECT_THAT(result.message, StartsWith("rank 1 (pipeline rank 1) can't go on: agent b was lost"));
  auto crashed = TwoRanks();
  ApplyLoss("can't go on: agent a was lost", Fault::kNetwork, crashed[0]);
  ApplyExit(SIGSEGV, crashed[1]);
  EXPECT_THAT(Conclude(PlanOf(3), crashed).message,
              StartsWith("rank 1 (pipeline rank 1) was killed"));
}

TEST(ConclusionTest, AHostThatIsLostAfterItsRanksWereDoneCostsNothing) {
  auto records = TwoRanks();
  for (RankRecord& record : records) {
    FinishStep(record, 0, 1.0);
    Done(record, 1e9);
  }
  ApplyLoss("can't go on: agent b was lost", Fault::kNetwork, records[1]);
  const TrialResult result = Conclude(PlanOf(1), records);
  EXPECT_EQ(result.outcome, TrialOutcome::kOk);
  EXPECT_THAT(result.message, HasSubstr("was done, but then can't go on: agent b was lost"));
}

TEST(ConclusionTest, AKillSaysThatTheMachineMayBeOutOfMemory) {
  auto records = TwoRanks();
  ApplyExit(SIGKILL, records[0]);
  EXPECT_THAT(Conclude(PlanOf(1), records).message, HasSubstr("memory runs out"));
}

TEST(ConclusionTest, ACrashAfterARankIsDoneLeavesTheTrialAndIsTold) {
  auto records = TwoRanks();
  for (RankRecord& record : records) FinishStep(record, 0, 2.0);
  records[0].output_tail = "driver shut down";
  Done(records[0], 1e9);
  Done(records[1], 1e9);
  ApplyExit(SIGABRT, records[0]);
  const TrialResult result = Conclude(PlanOf(1), records);
  EXPECT_EQ(result.outcome, TrialOutcome::kOk);
  EXPECT_EQ(result.step_s, 2.0);
  EXPECT_THAT(result.message,
              StartsWith("rank 0 (pipeline rank 0) was done, but then was killed by signal 6"));
  EXPECT_THAT(result.message, HasSubstr("driver shut down"));
}

TEST(ConclusionTest, NothingThatARankTellsAfterItIsDoneFailsTheTrial) {
  auto records = TwoRanks();
  for (RankRecord& record : records) FinishStep(record, 0, 2.0);
  Done(records[0], 1e9);
  Done(records[1], 1e9);
  Apply({{"event", "error"}, {"kind", "communication"}, {"message", "peer gone"}}, records[0]);
  ApplyExit(1 << 8, records[0]);
  ApplyEvent("not json", records[1]);
  const TrialResult result = Conclude(PlanOf(1), records);
  EXPECT_EQ(result.outcome, TrialOutcome::kOk);
  EXPECT_THAT(result.message, HasSubstr("was done, but then failed: peer gone and ended with exit "
                                        "code 1, like 1 more"));
}

TEST(ConclusionTest, ARankWhoseEndCannotBeReadIsNotDone) {
  auto records = TwoRanks();
  for (RankRecord& record : records) FinishStep(record, 0, 2.0);
  Done(records[0], 1e9);
  Apply({{"event", "done"}, {"stop_reason", "steps"}}, records[1]);
  const TrialResult result = Conclude(PlanOf(1), records);
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("sent an event that can't be read"));
}

TEST(ConclusionTest, ACrashAfterARankWasDoneMayHaveCostTheOthersTheirPeer) {
  auto records = TwoRanks();
  for (RankRecord& record : records) FinishStep(record, 0, 2.0);
  Done(records[0], 1e9);
  ApplyExit(SIGSEGV, records[0]);
  Apply({{"event", "error"}, {"kind", "communication"}, {"message", "peer gone"}}, records[1]);
  const TrialResult result = Conclude(PlanOf(1), records);
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, StartsWith("rank 1 (pipeline rank 1) failed: peer gone"));
  EXPECT_THAT(result.message, HasSubstr("rank 0 (pipeline rank 0) was done, but then was killed"));
}

TEST(ConclusionTest, ALostPeerAfterARankWasDoneFollowsFromTheOthersFailure) {
  auto records = TwoRanks();
  for (RankRecord& record : records) FinishStep(record, 0, 2.0);
  Done(records[0], 1e9);
  Apply({{"event", "error"}, {"kind", "communication"}, {"message", "peer gone"}}, records[0]);
  ApplyExit(SIGSEGV, records[1]);
  const TrialResult result = Conclude(PlanOf(1), records);
  EXPECT_THAT(result.message, StartsWith("rank 1 (pipeline rank 1) was killed by signal 11"));
  EXPECT_THAT(result.message, Not(HasSubstr("peer gone")));
}

TEST(ConclusionTest, EveryOutcomeNamesAProcessThatCouldNotBeEnded) {
  auto records = TwoRanks();
  for (RankRecord& record : records) FinishStep(record, 0, 2.0);
  records[1].left_pid = 4242;
  const auto names_it = HasSubstr("the process of rank 1 (pid 4242) could not be killed");
  EXPECT_THAT(Conclude(PlanOf(1), records).message, names_it);
  EXPECT_THAT(ConcludeTimeout(PlanOf(1), records, 0).message, names_it);
  EXPECT_THAT(ConcludeCancelled(PlanOf(1), records).message, names_it);
  Apply({{"event", "error"}, {"kind", "internal"}, {"message", "no"}}, records[0]);
  EXPECT_THAT(Conclude(PlanOf(1), records).message, names_it);
}

TEST(ConclusionTest, AnEndWithoutAllStepsIsAFailure) {
  auto records = TwoRanks();
  Done(records[1], 1e9);
  ApplyExit(0, records[0]);
  EXPECT_EQ(Conclude(PlanOf(1), records).outcome, TrialOutcome::kFailed);
}

TEST(ConclusionTest, AnUnreadableEventIsAFailure) {
  auto records = TwoRanks();
  ApplyEvent("{\"event\": \"step\"}", records[0]);
  ApplyEvent("not json", records[1]);
  const TrialResult result = Conclude(PlanOf(1), records);
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("can't be read"));
}

TEST(ConclusionTest, ALossThatIsNotFiniteIsAFailure) {
  auto records = TwoRanks();
  nlohmann::json event = ToJson(EventOf(0, 1.0));
  event["loss"] = nullptr;
  Apply(event, records[1]);
  EXPECT_THAT(Conclude(PlanOf(1), records).message, HasSubstr("not finite in step 0"));
}

TEST(ConclusionTest, TheGradientNormIsTheRootOfAllRanksParts) {
  auto records = TwoRanks();
  nlohmann::json event = ToJson(EventOf(0, 1.0));
  event["gradient_square_sum"] = 9.0;
  Apply(event, records[0]);
  event["gradient_square_sum"] = 16.0;
  Apply(event, records[1]);
  Done(records[0], 1e9);
  Done(records[1], 1e9);
  EXPECT_THAT(Conclude(PlanOf(1), records).gradient_norms, ElementsAre(5.0));
}

TEST(ConclusionTest, ThereIsNoGradientNormWhereARankDoesNotTellItsPart) {
  auto records = TwoRanks();
  nlohmann::json event = ToJson(EventOf(0, 1.0));
  Apply(event, records[0]);
  event["gradient_square_sum"] = 16.0;
  Apply(event, records[1]);
  Done(records[0], 1e9);
  Done(records[1], 1e9);
  EXPECT_THAT(Conclude(PlanOf(1), records).gradient_norms, IsEmpty());
}

TEST(ConclusionTest, AGradientNormThatIsNotFiniteIsAFailure) {
  auto records = TwoRanks();
  nlohmann::json event = ToJson(EventOf(0, 1.0));
  event["gradient_square_sum"] = nullptr;
  Apply(event, records[0]);
  EXPECT_THAT(Conclude(PlanOf(1), records).message,
              HasSubstr("gradient norm that is not finite in step 0"));
}

TEST(ConclusionTest, ATimeoutNamesTheRankThatIsFurthestBehind) {
  auto records = TwoRanks();
  FinishStep(records[0], 0, 1.0);
  FinishStep(records[1], 0, 1.0);
  Apply({{"event", "begin"}, {"step", 1}}, records[0]);
  EXPECT_EQ(FurthestBehind(records), 1);
  TrialPlan plan = PlanOf(2);
  plan.timeout_s = 2.5;
  const TrialResult result = ConcludeTimeout(plan, records, 1);
  EXPECT_EQ(result.outcome, TrialOutcome::kTimeout);
  EXPECT_THAT(result.message, HasSubstr("rank 1 (pipeline rank 1) gave no sign of life for 2.5 s"));
  EXPECT_THAT(result.message, HasSubstr("step 0"));
}

TEST(ConclusionTest, ACancelledTrialKeepsWhatItMeasured) {
  auto records = TwoRanks();
  FinishStep(records[0], 0, 1.0);
  FinishStep(records[1], 0, 2.0);
  const TrialResult result = ConcludeCancelled(PlanOf(5), records);
  EXPECT_EQ(result.outcome, TrialOutcome::kCancelled);
  EXPECT_THAT(result.step_times_s, ElementsAre(2.0));
  EXPECT_THAT(result.message, HasSubstr("1 of 5"));
}

TEST(ConclusionTest, TellsWhatAFailureIsOf) {
  const auto fault_of = [](const std::function<void(RankRecord&)>& fail) {
    std::vector<RankRecord> records = TwoRanks();
    fail(records[1]);
    return Conclude(PlanOf(1), records).fault;
  };
  const auto error = [](const std::string& kind, const std::string& message) {
    return [=](RankRecord& record) {
      Apply({{"event", "error"}, {"kind", kind}, {"message", message}}, record);
    };
  };
  // Whoever ends a process from outside sends these; its own faults end it with others.
  for (const int signal : {SIGKILL, SIGTERM}) {
    EXPECT_EQ(fault_of([&](RankRecord& record) { ApplyExit(signal, record); }),
              Fault::kInfrastructure);
  }
  for (const int signal : {SIGSEGV, SIGABRT}) {
    EXPECT_EQ(fault_of([&](RankRecord& record) { ApplyExit(signal, record); }), Fault::kLayout);
  }
  EXPECT_EQ(fault_of(error("internal", "expected a multiple of 8")), Fault::kLayout);
  EXPECT_EQ(fault_of(error("plan", "layout = x")), Fault::kLayout);
  EXPECT_EQ(fault_of(error("communication", "connection closed by peer")), Fault::kInfrastructure);
  EXPECT_EQ(fault_of(error("internal", "CUDA error: uncorrectable ECC error encountered")),
            Fault::kInfrastructure);
  // An explanation goes before what follows from it.
  EXPECT_EQ(fault_of([&](RankRecord& record) {
              error("communication", "gone")(record);
              Apply({{"event", "oom"},
                     {"pipeline_rank", 1},
                     {"requested_bytes", 1},
                     {"held_bytes", 1},
                     {"limit_bytes", 1}},
                    record);
            }),
            Fault::kLayout);
  EXPECT_EQ(ConcludeTimeout(PlanOf(1), TwoRanks(), 1).fault, Fault::kInfrastructure);
}

}  // namespace
}  // namespace meshwright::trial

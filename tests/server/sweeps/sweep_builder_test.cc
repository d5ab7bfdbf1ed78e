#include "server/sweeps/sweep_builder.h"

#include "base/text/field_error.h"
#include "db/shapes.h"
#include "executor/trial/trial.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "planner/catalog/catalog.h"
#include "planner/catalog/plan_query.h"
#include "tests/db/store_records.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

planner::SearchRequest Tiny() {
  planner::PlanQuery query;
  query.model.name = "tinystories-15m";
  query.cluster.name = "local-cpu";
  query.framework.name = "meshwright";
  query.devices = 4;
  query.training = {.seq_len = 64, .global_batch = 8, .precision = planner::Precision::kFp32};
  return *planner::Resolve(query, 4);
}

SweepOptions Options(int32_t trials) {
  SweepOptions options;
  options.trials = trials;
  options.candidates = trials;
  options.steps = 2;
  options.seed = 9;
  return options;
}

TEST(SweepBuilderTest, TakesTheBestLayoutsThatTheWorkerRuns) {
  const auto made = BuildSweep(Tiny(), Options(3), "v", db::At(0));
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->candidates.size(), 3u);
  EXPECT_EQ(made->sweep.device_kind, "cpu");
  EXPECT_EQ(made->sweep.profile_hash, db::ShapeHash(made->sweep.profile_json));
  double last = 2.0;
  for (const db::TrialRecord& trial : made->candidates) {
    const auto predicted = nlohmann::json::parse(trial.predicted_json);
    EXPECT_EQ(predicted["layout"], trial.layout);
    EXPECT_LE(predicted["mfu"].get<double>(), last);
    last = predicted["mfu"].get<double>();
    const auto plan = trial::TrialPlanFromJson(nlohmann::json::parse(trial.plan_json));
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(planner::FormatLayout(plan->layout), trial.layout);
    EXPECT_EQ(plan->seed, 9u);
    EXPECT_EQ(plan->steps, 2);
    // What results are held against, as predictions are.
    EXPECT_GT(plan->peak_flops.value_or(0.0), 0.0);
    EXPECT_EQ(plan->estimated_bytes.size(), static_cast<size_t>(plan->layout.pp));
    EXPECT_EQ(plan->estimated_communicator_bytes.size(), static_cast<size_t>(plan->layout.pp));
  }
}

TEST(SweepBuilderTest, TellsTheWorkerWhichAttentionThePlanIsAbout) {
  planner::ClusterSpec cluster = planner::FindCluster("h100", 1).value();
  cluster.device.fastest_attention = {
      {.head_dim = 64, .kernel = planner::AttentionKernel::kCudnn, .source = "a test"}};
  planner::PlanQuery query;
  query.model.name = "llama-3.2-1b";
  query.cluster = {"here", planner::ClusterToJson(cluster)};
  query.framework.name = "meshwright";
  query.devices = 8;
  query.training = {.seq_len = 4096, .global_batch = 64};
  const auto made = BuildSweep(*planner::Resolve(query, 1), Options(2), "v", db::At(0));
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_FALSE(made->candidates.empty());
  for (const db::TrialRecord& trial : made->candidates) {
    EXPECT_THAT(trial.layout, HasSubstr("attn=cudnn"));
    const auto plan = trial::TrialPlanFromJson(nlohmann::json::parse(trial.plan_json));
    EXPECT_EQ(plan->layout.attention, planner::AttentionKernel::kCudnn);
  }
}

// Its kernels are not the worker's, whose own default runs then.
TEST(SweepBuilderTest, LeavesTheAttentionOfAnotherFrameworkToTheWorker) {
  planner::PlanQuery query;
  query.model.name = "llama-3.2-1b";
  query.cluster.name = "h100";
  query.framework.name = "llm-foundry-fsdp";
  query.devices = 8;
  query.training = {.seq_len = 4096, .global_batch = 64};
  const auto made = BuildSweep(*planner::Resolve(query, 1), Options(1), "v", db::At(0));
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->candidates.size(), 1u);
  EXPECT_THAT(made->candidates[0].layout, testing::Not(HasSubstr("attn=")));
}

TEST(SweepBuilderTest, SaysThatTheWorkerRunsNoneOfTheLayouts) {
  planner::PlanQuery query;
  query.model.name = "llama-3.2-1b";
  planner::ClusterSpec cluster = planner::FindCluster("h100", 1).value();
  cluster.device.fastest_attention = {
      {.head_dim = 64, .kernel = planner::AttentionKernel::kFlash3, .source = "a test"}};
  query.cluster = {"here", planner::ClusterToJson(cluster)};
  query.framework.name = "meshwright";
  query.devices = 8;
  query.training = {.seq_len = 2048, .global_batch = 64};
  const absl::Status status =
      BuildSweep(*planner::Resolve(query, 1), Options(1), "v", db::At(0)).status();
  EXPECT_EQ(FieldOf(status), "framework");
  EXPECT_THAT(std::string(status.message()), HasSubstr("the worker runs none of the"));
}

std::vector<std::string> LayoutsOf(const NewSweep& made, bool requested) {
  std::vector<std::string> layouts;
  for (const db::TrialRecord& trial : made.candidates) {
    if (trial.requested == requested) layouts.push_back(trial.layout);
  }
  return layouts;
}

TEST(SweepBuilderTest, NamedLayoutsRunBesideTheBestOnes) {
  const auto found = BuildSweep(Tiny(), Options(3), "v", db::At(0));
  ASSERT_TRUE(found.ok()) << found.status();
  SweepOptions options = Options(3);
  // A slow one, twice, and one that the search finds itself.
  options.layouts = {"tp1.pp1.dp4.mb1.rc=full", "tp1.pp1.dp4.mb1.rc=full",
                     found->candidates[1].layout};
  const auto made = BuildSweep(Tiny(), options, "v", db::At(0));
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->candidates.size(), 4u);
  EXPECT_THAT(LayoutsOf(*made, true),
              ElementsAre(found->candidates[1].layout,
                          "tp1.cp1.pp1.dp4.mb1.vpp1.zero0.sp0.rc=full.sched=1f1b"));
  EXPECT_THAT(LayoutsOf(*made, false),
              ElementsAre(found->candidates[0].layout, found->candidates[2].layout));
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(made->candidates[i].number, static_cast<int32_t>(i) + 1);
  EXPECT_EQ(made->sweep.funnel_json, found->sweep.funnel_json);
}

TEST(SweepBuilderTest, CandidatesAreTrialsOnceTheyAreChosenUnlessTheyAreNamed) {
  SweepOptions options = Options(3);
  options.candidates = 0;
  options.min_gain = 0.02;
  options.layouts = {"tp1.pp1.dp4.mb1.rc=full"};
  const auto made = BuildSweep(Tiny(), options, "v", db::At(0));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_GT(made->candidates.size(), 20u);
  EXPECT_EQ(made->sweep.max_trials, 4);
  EXPECT_EQ(made->sweep.min_gain, 0.02);
  for (const db::TrialRecord& candidate : made->candidates) {
    EXPECT_EQ(candidate.is_open, !candidate.requested) << candidate.layout;
    const auto predicted = nlohmann::json::parse(candidate.predicted_json);
    EXPECT_EQ(candidate.predicted_step_s, predicted["time"]["step_s"].get<double>());
    EXPECT_EQ(candidate.oom_probability, predicted["oom_probability"].get<double>());
  }
}

TEST(SweepBuilderTest, WhereEveryCandidateIsToRunThereIsNothingToChoose) {
  const auto open = [](int32_t candidates, double min_gain) {
    SweepOptions options = Options(3);
    options.candidates = candidates;
    options.min_gain = min_gain;
    const auto made = BuildSweep(Tiny(), options, "v", db::At(0));
    EXPECT_EQ(made->sweep.max_trials, made->candidates.front().is_open ? 3 : 0);
    return made->candidates.front().is_open;
  };
  EXPECT_FALSE(open(3, 0.0));
  EXPECT_TRUE(open(3, 0.01));
  EXPECT_TRUE(open(4, 0.0));
}

TEST(SweepBuilderTest, NamedLayoutsAreEnough) {
  SweepOptions options = Options(0);
  options.layouts = {"tp1.pp1.dp4"};
  const auto made = BuildSweep(Tiny(), options, "v", db::At(0));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->candidates.size(), 1u);
  // Whether it fits is for the trial to find out.
  options.trials = 1;
  options.memory_limit_bytes = 2 << 20;
  const auto tight = BuildSweep(Tiny(), options, "v", db::At(0));
  ASSERT_TRUE(tight.ok()) << tight.status();
  EXPECT_EQ(tight->candidates.size(), 1u);
}

TEST(SweepBuilderTest, ANamedLayoutThatCantRunIsRefusedWithItsRule) {
  const auto refusal = [](const char* layout) {
    SweepOptions options = Options(1);
    options.layouts = {layout};
    const absl::Status status = BuildSweep(Tiny(), options, "v", db::At(0)).status();
    EXPECT_EQ(FieldOf(status), "layout");
    return std::string(status.message());
  };
  EXPECT_THAT(refusal("tp4.pp1.dp1"), HasSubstr("6 attention heads are not a multiple of tp = 4"));
  EXPECT_THAT(refusal("tp1.pp1.dp8"), HasSubstr("8"));
  EXPECT_THAT(refusal("mb1"), HasSubstr("must have at least one of tp, pp and dp"));
}

TEST(SweepBuilderTest, ASweepIsRepeatedAsIfNobodyHadRunIt) {
  const auto made = BuildSweep(Tiny(), Options(2), "v1", db::At(0));
  ASSERT_TRUE(made.ok()) << made.status();
  db::SweepRecord source = made->sweep;
  source.name = "old";
  source.request_id = "r";
  source.state = db::SweepState::kFinished;
  source.end_time = db::At(50);
  std::vector<db::TrialRecord> trials = made->candidates;
  trials[0].state = db::TrialState::kOk;
  trials[0].attempt = 3;
  trials[0].agent = "a";
  trials[0].measured = db::MeasuredTrial();
  trials[1].requested = true;
  SweepOptions options;
  options.sweep_id = "new";
  const NewSweep again = RepeatSweep(source, trials, options, db::At(100));
  EXPECT_EQ(again.sweep.name, "new");
  EXPECT_EQ(again.sweep.request_id, "");
  EXPECT_EQ(again.sweep.rerun_of, "old");
  EXPECT_EQ(again.sweep.state, db::SweepState::kPending);
  EXPECT_EQ(again.sweep.create_time, db::At(100));
  EXPECT_EQ(again.sweep.end_time, std::nullopt);
  EXPECT_EQ(again.sweep.cluster_json, made->sweep.cluster_json);
  std::vector<db::TrialRecord> expected = made->candidates;
  expected[1].requested = true;
  for (db::TrialRecord& trial : expected) trial.is_open = false;
  EXPECT_EQ(again.sweep.max_trials, 0);
  EXPECT_EQ(again.candidates, expected);
}

// The worker runs the trials of every framework's plan.
TEST(SweepBuilderTest, OptionsThatTheWorkerDoesNotRunAreRefusedWhicheverFrameworkIsPlanned) {
  planner::SearchRequest request = Tiny();
  request.profile = planner::FindProfile("megatron").value();
  request.training.options.loss_chunks = 8;
  EXPECT_EQ(FieldOf(BuildSweep(request, Options(3), "v", db::At(0)).status()), "loss");
}

TEST(SweepBuilderTest, ARunnersSweepHasTheLayoutsThatItRuns) {
  planner::SearchRequest request = Tiny();
  request.profile = *planner::FindProfile("deepspeed");
  SweepOptions options = Options(8);
  options.runner = SweepRunner{
      .choice = trial::RunnerChoice{.name = "r", .hash = std::string(64, '1'), .fields = {}},
      .profile = request.profile,
      .where = "tp = 1 and zero = 2"};
  const auto made = BuildSweep(request, options, "v", db::At(0));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(made->sweep.runner, "runner r 1111111111111111");
  EXPECT_FALSE(made->candidates.empty());
  for (const db::TrialRecord& trial : made->candidates) {
    const planner::Layout layout = *planner::ParseLayout(trial.layout);
    EXPECT_EQ(layout.tp, 1) << trial.layout;
    EXPECT_EQ(layout.zero, 2) << trial.layout;
    const auto plan = trial::TrialPlanFromJson(nlohmann::json::parse(trial.plan_json));
    ASSERT_TRUE(plan.ok()) << plan.status();
    EXPECT_EQ(plan->runner, options.runner->choice);
  }
  options.layouts = {"tp2.pp1.dp2.mb1.zero2"};
  EXPECT_THAT(BuildSweep(request, options, "v", db::At(0)).status().message(),
              HasSubstr("must be one that the sweep's runner runs: tp = 1 and zero = 2"));
}

TEST(SweepBuilderTest, AnAskedSweepHasTheLayoutsOfItsFrameworkAndNoRunner) {
  planner::SearchRequest request = Tiny();
  request.profile = *planner::FindProfile("megatron");
  SweepOptions options = Options(8);
  options.runner = SweepRunner{.profile = request.profile};
  const auto made = BuildSweep(request, options, "v", db::At(0));
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_TRUE(made->sweep.asked);
  EXPECT_EQ(made->sweep.runner, "");
  ASSERT_FALSE(made->candidates.empty());
  const auto plan = trial::TrialPlanFromJson(nlohmann::json::parse(made->candidates[0].plan_json));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->runner, std::nullopt);
}

TEST(SweepBuilderTest, NamesTheFieldThatIsOff) {
  EXPECT_EQ(FieldOf(BuildSweep(Tiny(), Options(0), "v", db::At(0)).status()), "trials");
  SweepOptions few = Options(3);
  few.candidates = 2;
  EXPECT_EQ(FieldOf(BuildSweep(Tiny(), few, "v", db::At(0)).status()), "candidates");
  SweepOptions greedy = Options(1);
  greedy.min_gain = 1.5;
  EXPECT_EQ(FieldOf(BuildSweep(Tiny(), greedy, "v", db::At(0)).status()), "min_gain");
  SweepOptions backwards = Options(1);
  backwards.steps = -1;
  EXPECT_EQ(FieldOf(BuildSweep(Tiny(), backwards, "v", db::At(0)).status()), "steps");
  planner::SearchRequest empty = Tiny();
  empty.training.global_batch = 0;
  EXPECT_EQ(FieldOf(BuildSweep(empty, Options(1), "v", db::At(0)).status()), "global_batch");
}

TEST(SweepBuilderTest, SaysByHowMuchNothingFits) {
  SweepOptions tight = Options(1);
  tight.memory_limit_bytes = 2 << 20;
  const absl::Status status = BuildSweep(Tiny(), tight, "v", db::At(0)).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("MiB over"));
}

}  // namespace
}  // namespace meshwright::server

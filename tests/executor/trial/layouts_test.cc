// Layouts over real processes against the single-process autograd reference: losses, every
// gradient, and peak memory to the byte.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "executor/host/host.h"
#include "planner/catalog/catalog.h"
#include "planner/memory/rank_memory.h"
#include "planner/schedule/schedule.h"
#include "tests/executor/trial/gradient_comparison.h"
#include "tests/executor/trial/trial_fixture.h"
#include "tests/executor/worker/reference_model.h"

namespace meshwright {
namespace {

struct Case {
  std::string name = "";
  Layout layout;
  bool tied = false;
  int64_t layers = 4;
  bool grouped = true;  // two query heads for each key/value head
  Precision precision = Precision::kFp32;
};

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

class LayoutsTest : public testing::TestWithParam<Case> {
 protected:
  LayoutsTest() : plan_(TinyPlan(GetParam().layout, 3)) {
    plan_.model.tied_embeddings = GetParam().tied;
    plan_.model.groups.front().count = GetParam().layers;
    plan_.training.precision = GetParam().precision;
    if (!GetParam().grouped) plan_.model.kv_heads = plan_.model.heads;
    plan_.dump_gradients_dir = folder_.path();
    plan_.known_peak_flops = 1e9;  // nothing here looks at speed
  }

  int64_t PredictedBytes(int32_t pipeline_rank) const {
    const ClusterSpec cluster = FindCluster("local-cpu", PhysicalCores()).value();
    const FrameworkProfile profile = FindProfile("meshwright").value();
    const EstimateContext context{plan_.model, cluster, plan_.training, profile};
    return EstimateRankMemory(context, plan_.layout, pipeline_rank).allocator_bytes();
  }

  TemporaryFolder folder_;
  TrialPlan plan_;
};

TEST_P(LayoutsTest, LossesGradientsAndMemoryAreExact) {
  const TrialResult result = RunHere(plan_);
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  const double tolerance = plan_.training.precision == Precision::kFp64 ? 1e-9 : 1e-4;
  ReferenceModel reference(plan_.model, plan_.training, plan_.seed);
  reference.Loss(0);
  ExpectSameGradients(reference, folder_.path(), plan_.layout, tolerance);
  const std::vector<double> expected =
      ReferenceModel(plan_.model, plan_.training, plan_.seed).Train(plan_.steps);
  ASSERT_EQ(result.losses.size(), expected.size());
  for (size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(result.losses[step], expected[step], 0.2 * tolerance) << "step " << step;
  }
  for (const RankResult& rank : result.ranks) {
    if (plan_.layout.zero < 2) {
      EXPECT_EQ(rank.peak_bytes, PredictedBytes(rank.pipeline_rank)) << "rank " << rank.rank;
    }
    const auto micro_batches =
        static_cast<int32_t>(plan_.layout.MicroBatches(plan_.training.global_batch));
    const auto actions = MakeSchedule(plan_.layout, rank.pipeline_rank, micro_batches).value();
    EXPECT_EQ(rank.peak_in_flight, PeakInFlight(actions)) << "rank " << rank.rank;
  }
}

class Bf16LayoutsTest : public LayoutsTest {};

TEST_P(Bf16LayoutsTest, StaysWithinItsPredictedMemory) {
  plan_.dump_gradients_dir.clear();
  plan_.training.precision = Precision::kBf16;
  const TrialResult result = RunHere(plan_);
  ASSERT_EQ(result.outcome, Outcome::kOk) << result.message;
  for (const RankResult& rank : result.ranks) {
    // What matrix products hold depends on whether the processor has bf16 instructions.
    const int64_t predicted = PredictedBytes(rank.pipeline_rank);
    EXPECT_LE(rank.peak_bytes, predicted) << "rank " << rank.rank;
    EXPECT_GT(rank.peak_bytes, predicted * 9 / 10) << "rank " << rank.rank;
  }
}

Layout With(Layout layout, ScheduleKind schedule) {
  layout.schedule = schedule;
  return layout;
}

Layout With(Layout layout, Recompute recompute, int32_t layers = 0) {
  layout.recompute = recompute;
  layout.recompute_layers = layers;
  return layout;
}

constexpr auto kGpipe = ScheduleKind::kGpipe;
constexpr auto kInterleaved = ScheduleKind::kInterleaved;
constexpr auto kBreadthFirst = ScheduleKind::kBreadthFirst;
constexpr auto kZbH1 = ScheduleKind::kZbH1;
constexpr auto kZbV = ScheduleKind::kZbV;

std::vector<Case> Axes() {
  return {Case{.name = "OneRank", .layout = {.micro_batch = 2}},
          Case{.name = "Tp2", .layout = {.tp = 2, .micro_batch = 2}},
          Case{.name = "Pp2", .layout = {.pp = 2}},
          Case{.name = "Dp2", .layout = {.dp = 2, .micro_batch = 2}},
          Case{.name = "Tp2Pp2", .layout = {.tp = 2, .pp = 2}},
          Case{.name = "Pp4", .layout = {.pp = 4}},
          Case{.name = "UnevenPp3", .layout = {.pp = 3}},
          Case{.name = "Tp2Pp2Dp2", .layout = {.tp = 2, .pp = 2, .dp = 2}},
          Case{.name = "TiedTp2", .layout = {.tp = 2}, .tied = true},
          Case{.name = "TiedPp2Dp2", .layout = {.pp = 2, .dp = 2}, .tied = true},
          Case{.name = "TiedTp2Pp2", .layout = {.tp = 2, .pp = 2}, .tied = true}};
}

std::vector<Case> Schedules() {
  return {
      Case{.name = "GpipePp2", .layout = With({.pp = 2}, kGpipe)},
      Case{.name = "GpipePp4Mb2", .layout = With({.pp = 4, .micro_batch = 2}, kGpipe)},
      Case{.name = "GpipeTp2Pp2", .layout = With({.tp = 2, .pp = 2}, kGpipe)},
      Case{.name = "GpipePp2Dp2", .layout = With({.pp = 2, .dp = 2}, kGpipe)},
      Case{.name = "InterleavedPp2", .layout = With({.pp = 2, .vpp = 2}, kInterleaved)},
      Case{.name = "InterleavedTp2Pp2", .layout = With({.tp = 2, .pp = 2, .vpp = 2}, kInterleaved)},
      Case{.name = "InterleavedPp2Dp2", .layout = With({.pp = 2, .dp = 2, .vpp = 2}, kInterleaved)},
      Case{.name = "UnevenInterleavedTiedPp2",  // one layer on the outer stages, two between
           .layout = With({.pp = 2, .vpp = 3}, kInterleaved),
           .tied = true,
           .layers = 10},
      Case{
          .name = "InterleavedPp4", .layout = With({.pp = 4, .vpp = 2}, kInterleaved), .layers = 8},
      Case{.name = "BreadthFirstOneRank", .layout = With({.vpp = 4}, kBreadthFirst)},
      Case{.name = "BreadthFirstTiedOneRank",
           .layout = With({.micro_batch = 2, .vpp = 2}, kBreadthFirst),
           .tied = true},
      Case{.name = "BreadthFirstPp2", .layout = With({.pp = 2, .vpp = 2}, kBreadthFirst)},
      Case{.name = "BreadthFirstPp4Modular",
           .layout = With({.pp = 4, .vpp = 2}, kBreadthFirst),
           .layers = 8},
      Case{.name = "BreadthFirstTp2Pp2",
           .layout = With({.tp = 2, .pp = 2, .vpp = 2}, kBreadthFirst)},
      Case{.name = "BreadthFirstTiedPp2Dp2",
           .layout = With({.pp = 2, .dp = 2, .vpp = 2}, kBreadthFirst),
           .tied = true},
      Case{.name = "InterleavedMultiHeadPp2",
           .layout = With({.pp = 2, .vpp = 2}, kInterleaved),
           .grouped = false}};
}

std::vector<Case> ZeroBubble() {
  return {
      Case{.name = "ZbH1OneRank", .layout = With({.micro_batch = 2}, kZbH1)},
      Case{.name = "ZbH1Pp2", .layout = With({.pp = 2}, kZbH1)},
      Case{.name = "ZbH1Pp4", .layout = With({.pp = 4}, kZbH1)},
      Case{.name = "ZbH1Tp2Pp2", .layout = With({.tp = 2, .pp = 2}, kZbH1)},
      Case{.name = "ZbH1TiedPp2Dp2", .layout = With({.pp = 2, .dp = 2}, kZbH1), .tied = true},
      Case{.name = "ZbH1FullPp2", .layout = With(With({.pp = 2}, kZbH1), Recompute::kFull)},
      Case{.name = "ZbH1SelectivePp2",
           .layout = With(With({.pp = 2}, kZbH1), Recompute::kSelective)},
      Case{.name = "ZbVOneRank", .layout = With({.micro_batch = 2, .vpp = 2}, kZbV)},
      Case{.name = "ZbVPp2", .layout = With({.pp = 2, .vpp = 2}, kZbV)},
      Case{.name = "ZbVPp4", .layout = With({.pp = 4, .vpp = 2}, kZbV), .layers = 8},
      Case{.name = "ZbVTp2Pp2", .layout = With({.tp = 2, .pp = 2, .vpp = 2}, kZbV)},
      Case{.name = "ZbVTiedPp2Dp2",
           .layout = With({.pp = 2, .dp = 2, .vpp = 2}, kZbV),
           .tied = true},
      Case{.name = "ZbVFullPp2", .layout = With(With({.pp = 2, .vpp = 2}, kZbV), Recompute::kFull)},
      Case{.name = "ZbVBlock1Pp2",
           .layout = With(With({.pp = 2, .vpp = 2}, kZbV), Recompute::kBlock, 1)},
      Case{.name = "ZbVSelectiveTp2Pp2",
           .layout = With(With({.tp = 2, .pp = 2, .vpp = 2}, kZbV), Recompute::kSelective)},
      Case{.name = "ZbH1MultiHeadPp2", .layout = With({.pp = 2}, kZbH1), .grouped = false}};
}

std::vector<Case> RecomputeModes() {
  return {
      Case{.name = "Selective", .layout = With({.micro_batch = 2}, Recompute::kSelective)},
      Case{.name = "SelectiveTp2Pp2", .layout = With({.tp = 2, .pp = 2}, Recompute::kSelective)},
      Case{.name = "Full", .layout = With({.micro_batch = 2}, Recompute::kFull)},
      Case{.name = "FullTp2Pp2", .layout = With({.tp = 2, .pp = 2}, Recompute::kFull)},
      Case{.name = "FullPp2Dp2", .layout = With({.pp = 2, .dp = 2}, Recompute::kFull)},
      Case{.name = "Block1Pp2", .layout = With({.pp = 2}, Recompute::kBlock, 1)},
      Case{.name = "Block3", .layout = With({}, Recompute::kBlock, 3)},
      Case{.name = "FullInterleaved",
           .layout = With(With({.pp = 2, .vpp = 2}, kInterleaved), Recompute::kFull)},
      Case{.name = "SelectiveGpipe",
           .layout = With(With({.pp = 2}, kGpipe), Recompute::kSelective)},
      Case{.name = "FullBreadthFirstTp2Pp2",
           .layout = With(With({.tp = 2, .pp = 2, .vpp = 2}, kBreadthFirst), Recompute::kFull)}};
}

std::vector<Case> Fp64() {
  return {Case{.name = "OneRank", .layout = {.micro_batch = 2}, .precision = Precision::kFp64},
          Case{.name = "Tp2Pp2Dp2",
               .layout = {.tp = 2, .pp = 2, .dp = 2},
               .tied = true,
               .precision = Precision::kFp64},
          Case{.name = "ZbVSelectiveTp2Pp2",
               .layout = With(With({.tp = 2, .pp = 2, .vpp = 2}, kZbV), Recompute::kSelective),
               .precision = Precision::kFp64},
          Case{.name = "FullInterleaved",
               .layout = With(With({.pp = 2, .vpp = 2}, kInterleaved), Recompute::kFull),
               .grouped = false,
               .precision = Precision::kFp64}};
}

Layout With(Layout layout, int32_t zero) {
  layout.zero = zero;
  return layout;
}

std::vector<Case> Zero() {
  std::vector<Case> cases;
  for (const int32_t zero : {1, 2, 3}) {
    const std::string stage = "Zero" + std::to_string(zero);
    cases.push_back({.name = stage + "Dp2", .layout = With({.dp = 2, .micro_batch = 2}, zero)});
    cases.push_back({.name = stage + "TiedTp2Pp2Dp2",
                     .layout = With({.tp = 2, .pp = 2, .dp = 2}, zero),
                     .tied = true});
    cases.push_back({.name = stage + "BreadthFirstPp2Dp2",
                     .layout = With(With({.pp = 2, .dp = 2, .vpp = 2}, kBreadthFirst), zero)});
    cases.push_back({.name = stage + "ZbVPp2Dp2",
                     .layout = With(With({.pp = 2, .dp = 2, .vpp = 2}, kZbV), zero)});
  }
  return cases;
}

// Every third: bf16 differs in what products hold, which is the same everywhere.
std::vector<Case> Some(const std::vector<Case>& cases) {
  std::vector<Case> some;
  for (size_t i = 0; i < cases.size(); i += 3) some.push_back(cases[i]);
  return some;
}

std::string NameOf(const testing::TestParamInfo<Case>& test) { return test.param.name; }

INSTANTIATE_TEST_SUITE_P(Axes, LayoutsTest, testing::ValuesIn(Axes()), NameOf);
INSTANTIATE_TEST_SUITE_P(Schedules, LayoutsTest, testing::ValuesIn(Schedules()), NameOf);
INSTANTIATE_TEST_SUITE_P(ZeroBubble, LayoutsTest, testing::ValuesIn(ZeroBubble()), NameOf);
INSTANTIATE_TEST_SUITE_P(Recompute, LayoutsTest, testing::ValuesIn(RecomputeModes()), NameOf);
INSTANTIATE_TEST_SUITE_P(Fp64, LayoutsTest, testing::ValuesIn(Fp64()), NameOf);
INSTANTIATE_TEST_SUITE_P(Zero, LayoutsTest, testing::ValuesIn(Zero()), NameOf);
INSTANTIATE_TEST_SUITE_P(Axes, Bf16LayoutsTest, testing::ValuesIn(Some(Axes())), NameOf);
INSTANTIATE_TEST_SUITE_P(Schedules, Bf16LayoutsTest, testing::ValuesIn(Some(Schedules())), NameOf);
INSTANTIATE_TEST_SUITE_P(ZeroBubble, Bf16LayoutsTest, testing::ValuesIn(Some(ZeroBubble())),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Recompute, Bf16LayoutsTest, testing::ValuesIn(Some(RecomputeModes())),
                         NameOf);

}  // namespace
}  // namespace meshwright

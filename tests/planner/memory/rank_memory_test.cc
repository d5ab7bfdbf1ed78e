#include "planner/memory/rank_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/recompute.h"
#include "planner/profile/layer_shape.h"
#include "planner/schedule/placement.h"
#include "planner/schedule/schedule.h"
#include "tests/planner/plain_context.h"

namespace meshwright::planner {
namespace {

TEST(Activations, FallFromTheFirstStageToTheLast) {
  const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 64);
  const Layout layout = MakeLayout("tp1.pp4.dp1");
  const int64_t last = EstimateRankMemory(context.get(), layout, 3).activations_bytes;
  for (int32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(EstimateRankMemory(context.get(), layout, rank).activations_bytes, (4 - rank) * last);
  }
}

TEST(Activations, ShrinkWithRecompute) {
  TestContext context = MakeContext("llama-2-7b", "h100", 4096, 64);
  context.profile.kept.selective_recompute = SelectiveRecompute::kNormsAndActivation;
  const auto kept = [&context](const char* text) {
    return EstimateRankMemory(context.get(), MakeLayout(text), 0).activations_bytes;
  };
  EXPECT_EQ(kept("tp1.pp1.dp1.rc=full"), int64_t{32} * 2 * 4096 * 4096);
  EXPECT_LT(kept("tp1.pp1.dp1.rc=selective"), kept("tp1.pp1.dp1.rc=none"));
  EXPECT_EQ(kept("tp1.pp1.dp1.rc=block:32"), kept("tp1.pp1.dp1.rc=full"));
}

// Llama-3-8B at 8192 tokens over two tensor ranks.
constexpr int64_t kRankMemoryTokens = 8192;
constexpr int64_t kRankMemoryHidden = 4096;
constexpr int64_t kVocab = 128256;
constexpr int64_t kActivation = 2 * kRankMemoryTokens * kRankMemoryHidden;

TestContext Llama8b(int64_t global_batch = 64) {
  return PlainContext("llama-3-8b", kRankMemoryTokens, global_batch);
}

MemoryEstimate OnRank(const TestContext& context, const char* layout, int32_t rank = 0) {
  return EstimateRankMemory(context.get(), MakeLayout(layout), rank);
}

int64_t StateBytesOfBlock(const TestContext& context, const char* layout) {
  return KeptBytes(
      BlockOperators(LayerShape(context.get(), MakeLayout(layout), context.model.groups.front())));
}

// Llama 3 405B in interleaved chunks of four slots, of which the first stage's has a layer less:
// rank 0 warms up 8 micro-batches through each of its four chunks and 7 more through the first.
TEST(Activations, CountTheLayersOfEveryChunk) {
  const TestContext context = PlainContext("llama-3-405b", kRankMemoryTokens, 64);
  const char* layout = "tp8.pp8.dp1.vpp4.sp1";
  EXPECT_EQ(OnRank(context, layout).activations_bytes,
            (15 * 3 + 3 * 8 * 4) * StateBytesOfBlock(context, layout));
  // The last rank holds p + 1 of its chunks, the head's not among the first of them.
  EXPECT_EQ(OnRank(context, layout, 7).activations_bytes,
            (8 * 4 + 8 * 4 + 8 * 4 + 1 * 3) * StateBytesOfBlock(context, layout));
}

// Layers held at the peak of a rank's list: each forward adds those of its chunk, the end of its
// backward takes them away.
int64_t PeakLayers(const TestContext& context, const Layout& layout, int32_t rank, int32_t m) {
  int64_t held = 0;
  int64_t peak = 0;
  const std::vector<Action> actions = MakeSchedule(layout, rank, m).value();
  for (const Action& action : actions) {
    const int64_t layers = StageOf(context.model, layout, context.profile.supports.stage_partition,
                                   StageOfChunk(layout, rank, action.chunk))
                               .layer_count;
    if (action.kind == ActionKind::kForward) held += layers;
    if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kBackwardWeight) {
      held -= layers;
    }
    peak = std::max(peak, held);
  }
  return peak;
}

// 14 layers and two slots over four ranks of two chunks or one: the ends hold a layer less.
TEST(Activations, AreThoseOfTheScheduleWithUnequalStages) {
  TestContext context = PlainContext("llama-2-7b", 4096, 8);
  context.model.groups.front().count = 14;
  for (const char* text :
       {"tp1.pp4.dp1", "tp1.pp4.dp1.sched=gpipe", "tp1.pp4.dp1.sched=zb_h1", "tp1.pp4.dp1.vpp2",
        "tp1.pp4.dp1.vpp2.sched=breadth_first", "tp1.pp4.dp1.vpp2.sched=zb_v"}) {
    const Layout layout = MakeLayout(text);
    for (int32_t rank = 0; rank < 4; ++rank) {
      // The estimate takes the end of the warm-up; after it an interleaved last rank once trades
      // its short chunk for a long one.
      const int64_t later = layout.schedule == ScheduleKind::kInterleaved && rank == 3 ? 1 : 0;
      EXPECT_EQ(OnRank(context, text, rank).activations_bytes,
                (PeakLayers(context, layout, rank, 8) - later) * StateBytesOfBlock(context, text))
          << text << " rank " << rank;
    }
  }
}

// Full recompute keeps 2 T h for each layer and micro-batch in flight, and works in one whole
// layer.
TEST(Recompute, InFullKeepsInputsAndWorksInOneLayer) {
  TestContext context = Llama8b();
  context.profile.kept.loss_peak_bytes_per_logit = 1e-9;  // so that the loss hides nothing
  const MemoryEstimate none = OnRank(context, "tp2.pp4.dp1");
  const MemoryEstimate full = OnRank(context, "tp2.pp4.dp1.rc=full");
  EXPECT_EQ(full.activations_bytes, int64_t{4} * 8 * kActivation);
  EXPECT_EQ(full.workspace_bytes - none.workspace_bytes,
            StateBytesOfBlock(context, "tp2.pp4.dp1") - kActivation);
  EXPECT_EQ(OnRank(context, "tp2.pp4.dp1.sp1.rc=full").activations_bytes,
            int64_t{4} * 8 * kActivation / 2);
}

TEST(Recompute, OfABlockKeepsTheOtherLayersInFull) {
  const TestContext context = Llama8b();
  EXPECT_EQ(OnRank(context, "tp2.pp4.dp1.rc=block:3").activations_bytes,
            4 * (3 * kActivation + 5 * StateBytesOfBlock(context, "tp2.pp4.dp1")));
}

TEST(Recompute, SelectiveKeepsWhatItDoesNotMakeAgain) {
  const TestContext context = Llama8b();
  const BlockShape shape =
      LayerShape(context.get(), MakeLayout("tp2.pp4.dp1"), context.model.groups.front());
  OperatorList block = BlockOperators(shape);
  Apply(PartsOf({.mode = Recompute::kSelective}, shape), block);
  EXPECT_EQ(OnRank(context, "tp2.pp4.dp1.rc=selective").activations_bytes,
            int64_t{4} * 8 * KeptBytes(block));
}

// Eager attention keeps q2 s^2 a / t bytes a layer by its kernel, flash kernels none; selective
// recompute drops them.
TEST(Scores, AreKeptByKernelsThatWriteThemOut) {
  TestContext context = Llama8b();
  context.profile.kept.fused_softmax_bytes = 5.0;
  context.profile.kept.eager_attention_bytes = 7.0;
  const int64_t scores = 32 * kRankMemoryTokens * kRankMemoryTokens / 2;
  const int64_t flash = OnRank(context, "tp2.pp1.dp1").activations_bytes;
  const auto extra = [&](const char* layout) {
    return OnRank(context, layout).activations_bytes - flash;
  };
  EXPECT_EQ(extra("tp2.pp1.dp1.attn=flash1"), 0);
  EXPECT_EQ(extra("tp2.pp1.dp1.attn=fused_softmax"), int64_t{32} * 5 * scores);
  EXPECT_EQ(extra("tp2.pp1.dp1.attn=eager"), int64_t{32} * 7 * scores);
  EXPECT_EQ(OnRank(context, "tp2.pp1.dp1.rc=selective.attn=eager").activations_bytes,
            OnRank(context, "tp2.pp1.dp1.rc=selective").activations_bytes);
}

TEST(Norms, KeepWhatTheKernelSays) {
  TestContext context = Llama8b();
  context.profile.kept.eager_norm_bytes = 12.0;
  EXPECT_EQ(OnRank(context, "tp2.pp1.dp1.norm=eager").activations_bytes -
                OnRank(context, "tp2.pp1.dp1").activations_bytes,
            int64_t{32} * 12 * kRankMemoryTokens * kRankMemoryHidden);
}

// Ring attention receives the next keys and values while it works on these: 2 * (2 * 2 T d k / t).
TEST(ContextParallel, AddsReceiveBuffers) {
  TestContext context = Llama8b();
  context.profile.kept.loss_peak_bytes_per_logit = 1e-9;
  context.profile.kept.hidden_work_bytes = 0.0;
  context.profile.kept.ffn_work_bytes = 0.0;
  const int64_t tokens = kRankMemoryTokens / 4;
  EXPECT_EQ(
      OnRank(context, "tp2.cp4.pp2.dp1").workspace_bytes,
      2 * (int64_t{2} * 2 * tokens * 128 * 8 / 2) + int64_t{2} * 2 * tokens * kRankMemoryHidden);
}

TEST(Loss, IsOnTheLastStageAlone) {
  const TestContext context = Llama8b();
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1", 0).loss_bytes, 0);
  // 8 bytes per logit at the peak and the final norm's two ends.
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1", 1).loss_bytes,
            8 * kRankMemoryTokens * kVocab / 2 + 2 * kActivation);
}

// zb_v turns back: the head is on the first rank.
TEST(Loss, IsOnTheFirstRankOfAV) {
  const TestContext context = Llama8b();
  EXPECT_GT(OnRank(context, "tp2.pp2.dp1.vpp2.sched=zb_v", 0).loss_bytes, 0);
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1.vpp2.sched=zb_v", 1).loss_bytes, 0);
}

// Eager loss on logits gathered over TP: 18 bytes for each of T V, not divided by t.
TEST(Loss, OnGatheredLogitsIsNotDivided) {
  TestContext context = Llama8b();
  context.profile.kept.vocab_parallel_loss = false;
  context.profile.kept.loss_peak_bytes_per_logit = 18.0;
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1", 1).loss_bytes,
            18 * kRankMemoryTokens * kVocab + 2 * kActivation);
}

TEST(Loss, OnDividedLogitsHasTheBytesOfItsOwn) {
  TestContext context = Llama8b();
  context.profile.kept.parallel_loss_peak_bytes_per_logit = 20.0;
  EXPECT_EQ(OnRank(context, "tp1.pp2.dp1", 1).loss_bytes,
            8 * kRankMemoryTokens * kVocab + 2 * kActivation);
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1", 1).loss_bytes,
            20 * kRankMemoryTokens * kVocab / 2 + 2 * kActivation);
}

TEST(Loss, CountsThePaddedVocabulary) {
  TestContext context = Llama8b();
  context.profile.supports.vocab_multiple = 1024;
  const int64_t padded = int64_t{63} * 2048;  // 128256 to the next multiple of 1024 tp
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1", 1).loss_bytes,
            8 * kRankMemoryTokens * padded / 2 + 2 * kActivation);
}

// One micro-batch's loss at once under 1F1B; under GPipe the others keep their softmax and the
// head's input and output.
TEST(Loss, OfAllMicroBatchesLivesUnderGpipe) {
  const TestContext context = Llama8b(4);
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1.sched=gpipe", 1).loss_bytes -
                OnRank(context, "tp2.pp2.dp1", 1).loss_bytes,
            3 * (4 * kRankMemoryTokens * kVocab / 2 + 2 * kActivation));
}

// Under ZB-H1 the head's weight gradient waits, and its input with it, for p micro-batches.
TEST(Loss, KeepsHeadInputsUntilTheirWeightGradient) {
  const TestContext context = Llama8b(8);
  EXPECT_EQ(OnRank(context, "tp2.pp4.dp1.sched=zb_h1", 3).loss_bytes -
                OnRank(context, "tp2.pp4.dp1", 3).loss_bytes,
            (4 - 1) * kActivation);
}

// The loss's backward is over before the first block's begins.
TEST(Workspace, TakesTurnsWithTheLoss) {
  TestContext context = Llama8b();
  const MemoryEstimate first = OnRank(context, "tp2.pp2.dp1", 0);
  // 4 T h and 6 T f/t of gradients at work, and a boundary each way.
  EXPECT_EQ(first.workspace_bytes, 4 * kRankMemoryTokens * kRankMemoryHidden +
                                       6 * kRankMemoryTokens * 14336 / 2 + 2 * kActivation);
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1", 1).workspace_bytes, 0);
  context.profile.kept.loss_peak_bytes_per_logit = 0.001;
  const MemoryEstimate last = OnRank(context, "tp2.pp2.dp1", 1);
  EXPECT_EQ(last.workspace_bytes + last.loss_bytes, first.workspace_bytes);
}

// Score matrices split the blocks that the loss leaves behind.
TEST(Workspace, OfScoresAddsToTheLoss) {
  TestContext context = Llama8b();
  context.profile.kept.score_work_bytes = 4.0;
  const int64_t scores = 32 * kRankMemoryTokens * kRankMemoryTokens / 2;
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1.attn=eager", 1).workspace_bytes, 4 * scores);
  // Recomputed scores are at work, not kept.
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1.rc=full.attn=eager", 1).workspace_bytes, (4 + 6) * scores);
}

TEST(Workspace, HoldsWhatTheAllocatorAlwaysHas) {
  TestContext context = Llama8b();
  const int64_t before = OnRank(context, "tp2.pp2.dp1").workspace_bytes;
  context.profile.kept.fixed_bytes = 123456;
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1").workspace_bytes, before + 123456);
}

// ZeRO-3 gathers the two largest units of weights, here the embedding of 525 M, and has one unit of
// fp32 gradients; ZeRO-2 the gradients alone.
TEST(GatheredUnits, AreTwoOfWeightsAndOneOfGradients) {
  const TestContext context = Llama8b();
  const int64_t unit = kVocab * kRankMemoryHidden;
  const int64_t none = OnRank(context, "tp1.pp1.dp8.zero1").workspace_bytes;
  EXPECT_EQ(OnRank(context, "tp1.pp1.dp8.zero2").workspace_bytes - none, 4 * unit);
  EXPECT_EQ(OnRank(context, "tp1.pp1.dp8.zero3").workspace_bytes - none, (2 * 2 + 4) * unit);
  EXPECT_EQ(OnRank(context, "tp2.pp1.dp8.zero3").workspace_bytes -
                OnRank(context, "tp2.pp1.dp8.zero1").workspace_bytes,
            (2 * 2 + 4) * unit / 2);
}

TEST(GatheredUnits, AreALayerWhereThatIsLarger) {
  const TestContext context = PlainContext("llama-2-7b", 4096, 8);
  const int64_t layer = 4 * 4096 * 4096 + 3 * 4096 * 11008 + 2 * 4096;
  EXPECT_EQ(OnRank(context, "tp1.pp1.dp8.zero3").workspace_bytes -
                OnRank(context, "tp1.pp1.dp8.zero0").workspace_bytes,
            (2 * 2 + 4) * layer);
}

// Gaps come from micro-batches that overlap in a pipeline.
TEST(Fragmentation, IsAShareOfWhatPipelinesKeep) {
  TestContext context = Llama8b();
  context.profile.kept.fragmentation = 0.06;
  const MemoryEstimate pipeline = OnRank(context, "tp2.pp2.dp1");
  EXPECT_EQ(pipeline.fragmentation_bytes,
            static_cast<int64_t>(0.06 * static_cast<double>(pipeline.activations_bytes)));
  EXPECT_EQ(OnRank(context, "tp2.pp1.dp2").fragmentation_bytes, 0);
}

// The context, and buffers for each axis that communicates; context ranks are in the data axis.
TEST(Overhead, HasACommunicatorForEveryAxis) {
  TestContext context = Llama8b();
  context.cluster.device.context_bytes = 1000000;
  context.cluster.device.communicator_bytes = 1000;
  EXPECT_EQ(OnRank(context, "tp1.pp1.dp1").overhead_bytes, 1000000);
  EXPECT_EQ(OnRank(context, "tp2.pp1.dp1").overhead_bytes, 1001000);
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1").overhead_bytes, 1002000);
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp2").overhead_bytes, 1003000);
  EXPECT_EQ(OnRank(context, "tp2.cp2.pp2.dp1").overhead_bytes, 1003000);
}

// The optimizer's own copies count where they are more than the activations were.
TEST(OptimizerStep, IsThePeakWhereItNeedsMoreThanThePasses) {
  TestContext context = Llama8b();
  const MemoryEstimate passes = OnRank(context, "tp2.pp2.dp1");
  context.profile.states.step_bytes_per_parameter = 0.001;
  EXPECT_EQ(OnRank(context, "tp2.pp2.dp1"), passes);
  context.profile.states.step_bytes_per_parameter = 60.0;
  const MemoryEstimate step = OnRank(context, "tp2.pp2.dp1");
  EXPECT_EQ(step.activations_bytes + step.loss_bytes, 0);
  EXPECT_EQ(step.workspace_bytes, 60 * passes.weights_bytes / 2);
  EXPECT_EQ(step.weights_bytes, passes.weights_bytes);
  EXPECT_EQ(step.gradients_bytes, passes.gradients_bytes);
  EXPECT_EQ(step.optimizer_bytes, passes.optimizer_bytes);
}

// DeepSpeed converts the gradients of what a rank owns, under ZeRO-3 group by group.
TEST(OptimizerStep, HoldsCopiesOfWhatTheRankOwns) {
  TestContext context = Llama8b();
  context.profile.states.step_bytes_per_owned_parameter = 600.0;
  const auto step_bytes = [&context](const char* layout) {
    return static_cast<double>(OnRank(context, layout).workspace_bytes);
  };
  const double whole = step_bytes("tp1.pp1.dp8.zero0");
  EXPECT_NEAR(step_bytes("tp1.pp1.dp8.zero1") / whole, 1.0 / 8.0, 1e-6);
  EXPECT_NEAR(step_bytes("tp1.pp1.dp8.zero3") / whole, 1.0 / 8.0, 1e-6);
  context.profile.states.step_group_parameters = 500'000'000;
  EXPECT_EQ(step_bytes("tp1.pp1.dp8.zero3"), 600.0 * 5e8);
  EXPECT_NEAR(step_bytes("tp1.pp1.dp8.zero1") / whole, 1.0 / 8.0, 1e-6);
}

TEST(MeasuredPeak, IsOfTheRankThatWasWrittenDown) {
  const TestContext context = Llama8b();
  const Layout layout = MakeLayout("tp2.pp4.dp1");
  const auto measured = [&](PeakRank rank) {
    return EstimateMeasuredPeakBytes(context.get(), layout, rank);
  };
  const std::vector<int64_t> ranks = EstimateAllocatorBytes(context.get(), layout);
  EXPECT_EQ(measured(PeakRank::kFirst), ranks.front());
  EXPECT_EQ(measured(PeakRank::kLast), ranks.back());
  EXPECT_EQ(measured(PeakRank::kFullest), *std::max_element(ranks.begin(), ranks.end()));
  EXPECT_NE(ranks.front(), ranks.back());
}

// Reserved memory counts the allocator's gaps, allocated does not; neither what lies outside.
TEST(MeasuredPeak, IsOfTheKindThatTheFrameworkReports) {
  TestContext context = Llama8b();
  context.profile.kept.fragmentation = 0.06;
  context.cluster.device.context_bytes = int64_t{1} << 30;
  const Layout layout = MakeLayout("tp2.pp4.dp1");
  const MemoryEstimate first = EstimateRankMemory(context.get(), layout, 0);
  context.profile.kept.peak_kind = PeakKind::kAllocated;
  EXPECT_EQ(EstimateMeasuredPeakBytes(context.get(), layout, PeakRank::kFirst),
            first.allocator_bytes());
  context.profile.kept.peak_kind = PeakKind::kReserved;
  EXPECT_EQ(EstimateMeasuredPeakBytes(context.get(), layout, PeakRank::kFirst),
            first.allocator_bytes() + first.fragmentation_bytes);
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/cost/layer_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "planner/cost/stage_time.h"
#include "tests/planner/plain_context.h"

namespace meshwright::planner {
namespace {

// Sizes of Llama-2-7B at 4096 tokens, and M, the bytes of an activation between two layers.
constexpr double kLayerTimeTokens = 4096.0;
constexpr double kLayerTimeHidden = 4096.0;
constexpr double kLayerTimeInner = 11008.0;
constexpr double kActivationBytes = 2.0 * kLayerTimeTokens * kLayerTimeHidden;
constexpr double kLinkBytesPerS = 300e9;

TestContext Llama7b() { return PlainContext("llama-2-7b", 4096, 8); }

LayerTime Layer(const TestContext& test, const char* text) {
  const Layout layout = MakeLayout(text);
  const EstimateContext context = test.get();
  return EstimateLayer(StepShape(context, layout), 0);
}

LayerTime Head(const TestContext& test, const char* text) {
  const Layout layout = MakeLayout(text);
  const EstimateContext context = test.get();
  return EstimateHead(StepShape(context, layout));
}

// Seconds that streaming `bytes` takes on the plain device.
double Streamed(double bytes) { return bytes / (2.039e12 * 0.85); }

// Per layer and micro-batch two all-reduces forward and two backward: 4 * 2 (t - 1) / t * M.
TEST(TensorParallel, MovesThePublishedVolume) {
  const LayerTime layer = Layer(Llama7b(), "tp4.pp1.dp1");
  const double volume = 4.0 * 2.0 * 3.0 / 4.0 * kActivationBytes;
  EXPECT_NEAR(layer.tp_forward_s + layer.tp_backward_s, volume / kLinkBytesPerS, 1e-12);
  EXPECT_DOUBLE_EQ(layer.tp_forward_s, layer.tp_backward_s);
}

TEST(TensorParallel, MovesTheSameBytesUnderSequenceParallel) {
  const LayerTime plain = Layer(Llama7b(), "tp4.pp1.dp1");
  const LayerTime sequence = Layer(Llama7b(), "tp4.pp1.dp1.sp1");
  EXPECT_NEAR(sequence.tp_forward_s, plain.tp_forward_s, 1e-12);
  EXPECT_NEAR(sequence.tp_backward_s, plain.tp_backward_s, 1e-12);
  // Norms and residuals are divided.
  EXPECT_LT(sequence.forward_s, plain.forward_s);
}

TEST(TensorParallel, IsNothingOnOneRank) {
  const LayerTime layer = Layer(Llama7b(), "tp1.pp1.dp1");
  EXPECT_EQ(layer.tp_forward_s + layer.tp_backward_s + layer.tp_recompute_s, 0.0);
}

// Forward (c - 1) * 4 T d k / min(t, k) bytes, backward twice that; where the network is so slow
// that all of it shows, twice the bandwidth saves half of it.
TEST(ContextParallel, RingMovesThePublishedVolume) {
  const auto layer_at = [](double bytes_per_s) {
    TestContext test = Llama7b();
    test.cluster.scale_up.bytes_per_s = bytes_per_s;
    return Layer(test, "tp2.cp4.pp1.dp1");
  };
  const LayerTime slow = layer_at(1e8);
  const LayerTime fast = layer_at(2e8);
  const double volume = 3.0 * 4.0 * (kLayerTimeTokens / 4.0) * 128.0 * 32.0 / 2.0;
  EXPECT_NEAR(slow.cp_forward_s - fast.cp_forward_s, volume / 2e8, 1e-9);
  EXPECT_NEAR(slow.cp_backward_s - fast.cp_backward_s, 2.0 * volume / 2e8, 1e-9);
}

// The forward's bytes for keys and values once more, and twice as many for their gradients.
TEST(ContextParallel, Fp32GradientsTakeTwiceTheBytesOfBf16KeysAndValues) {
  const auto layer_at = [](double bytes_per_s) {
    TestContext test = Llama7b();
    test.cluster.scale_up.bytes_per_s = bytes_per_s;
    test.profile.communication.ring_gradient_bytes = 4;
    return Layer(test, "tp2.cp4.pp1.dp1");
  };
  const LayerTime slow = layer_at(1e8);
  const LayerTime fast = layer_at(2e8);
  const double volume = 3.0 * 4.0 * (kLayerTimeTokens / 4.0) * 128.0 * 32.0 / 2.0;
  EXPECT_NEAR(slow.cp_forward_s - fast.cp_forward_s, volume / 2e8, 1e-9);
  EXPECT_NEAR(slow.cp_backward_s - fast.cp_backward_s, 3.0 * volume / 2e8, 1e-9);
}

// With keys and values on every rank of their own: min(t, k) divides, not t.
TEST(ContextParallel, RingOfGroupedQueriesMovesKeysAndValuesOnly) {
  TestContext test = PlainContext("llama-3-70b", 4096, 8);
  test.cluster.scale_up.bytes_per_s = 1e7;
  const LayerTime slow = Layer(test, "tp4.cp2.pp1.dp1");
  test.cluster.scale_up.bytes_per_s = 2e7;
  const LayerTime fast = Layer(test, "tp4.cp2.pp1.dp1");
  const double volume = 4.0 * 2048.0 * 128.0 * 8.0 / 4.0;
  EXPECT_NEAR(slow.cp_forward_s - fast.cp_forward_s, volume / 2e7, 1e-9);
}

// The parts still have to be added up: 12 bytes per element of the output for each hop.
TEST(ContextParallel, HidesItsRingBehindLongSequences) {
  TestContext test = PlainContext("llama-2-7b", 131072, 8);
  const LayerTime layer = Layer(test, "tp1.cp4.pp1.dp1");
  EXPECT_NEAR(layer.cp_forward_s, 3.0 * Streamed(12.0 * 32768.0 * kLayerTimeHidden), 1e-9);
}

// A boundary sends M forward, divided under sequence parallel; the host may add to each hop.
TEST(PipelineHop, MovesOneActivation) {
  TestContext test = Llama7b();
  const auto hop_s = [&test](const char* layout) {
    return HopTime(test.get(), MakeLayout(layout));
  };
  EXPECT_DOUBLE_EQ(hop_s("tp2.pp2.dp1"), kActivationBytes / kLinkBytesPerS);
  EXPECT_DOUBLE_EQ(hop_s("tp2.pp2.dp1.sp1"), kActivationBytes / 2.0 / kLinkBytesPerS);
  // Neighbours in the pipeline are on different nodes where data ranks fill one.
  EXPECT_DOUBLE_EQ(hop_s("tp2.pp2.dp4"), kActivationBytes / 25e9);
  test.profile.communication.pipeline_hop_s = 1e-3;
  EXPECT_DOUBLE_EQ(hop_s("tp2.pp2.dp1"), 1e-3 + kActivationBytes / kLinkBytesPerS);
}

// A forward is run again: 4/3 of the layer's matmuls, whose backward takes two forwards.
TEST(FullRecompute, RunsTheForwardAgain) {
  const TestContext test = Llama7b();
  const Layout layout = MakeLayout("tp2.pp1.dp1");
  const EstimateContext context = test.get();
  const StepShape step(context, layout);
  const LayerTime layer = EstimateLayer(step, 0);
  const LayerTime recomputed = Recomputed(step, step.planned.block(0), layer);
  EXPECT_EQ(recomputed.recompute_s, layer.forward_s);
  EXPECT_EQ(recomputed.tp_recompute_s, layer.tp_forward_s);
  EXPECT_EQ(recomputed.compute_s(), layer.compute_s());
  EXPECT_NEAR(recomputed.recompute_s / layer.compute_s(), 1.0 / 3.0, 0.02);
}

// The down projection is a third of the FFN's forward: 2 * 4096 * 11008 of 2 * (4 * 4096^2 + 3 *
// 4096
// * 11008) FLOPs a token.
TEST(FullRecompute, ThatStopsEarlyLeavesOutTheDownProjection) {
  TestContext test = Llama7b();
  test.profile.kept.recompute_stops_early = true;
  const Layout layout = MakeLayout("tp1.pp1.dp1.rc=full");
  const EstimateContext context = test.get();
  const StepShape step(context, layout);
  const LayerTime layer = EstimateLayer(step, 0);
  const LayerTime recomputed = Recomputed(step, step.planned.block(0), layer);
  const double down = 11008.0 / (4.0 * 4096.0 + 3.0 * 11008.0);
  EXPECT_NEAR(recomputed.recompute_s / layer.forward_s, 1.0 - down, 0.04);
}

TEST(FullRecompute, LeavesTheHeadAlone) {
  const TestContext test = Llama7b();
  const Layout full = MakeLayout("tp1.pp1.dp1.rc=full");
  const EstimateContext context = test.get();
  const StepShape step(context, full);
  const StageTime stage = StageTimes(step).OfRank(0);
  const LayerTime layer = EstimateLayer(step, 0);
  EXPECT_NEAR(stage.parts[TimePart::kRecompute], 32.0 * layer.forward_s, 1e-9);
}

TEST(BlockRecompute, RunsThatManyForwardsAgain) {
  const TestContext test = Llama7b();
  const auto recompute_s = [&test](const char* text) {
    const Layout layout = MakeLayout(text);
    return StageTimes(StepShape(test.get(), layout)).OfRank(0).parts[TimePart::kRecompute];
  };
  EXPECT_NEAR(recompute_s("tp1.pp1.dp1.rc=block:8"), recompute_s("tp1.pp1.dp1.rc=full") / 4.0,
              1e-9);
  EXPECT_DOUBLE_EQ(recompute_s("tp1.pp1.dp1.rc=block:64"), recompute_s("tp1.pp1.dp1.rc=full"));
}

// Norms 4 bytes an element each, SwiGLU 6 for each inner one.
TEST(SelectiveRecompute, RunsNormsAndSwiGluAgain) {
  TestContext test = Llama7b();
  test.profile.kept.selective_recompute = SelectiveRecompute::kNormsAndActivation;
  const LayerTime fused = Layer(test, "tp1.pp1.dp1.rc=selective");
  const double norms_s = 2.0 * Streamed(4.0 * kLayerTimeTokens * kLayerTimeHidden);
  const double swiglu_s = Streamed(6.0 * kLayerTimeTokens * kLayerTimeInner);
  EXPECT_NEAR(fused.recompute_s, norms_s + swiglu_s, 1e-12);
  EXPECT_EQ(Layer(test, "tp1.pp1.dp1").recompute_s, 0.0);
  EXPECT_NEAR(Layer(test, "tp1.pp1.dp1.rc=selective.attn=eager").recompute_s, fused.recompute_s,
              1e-12);
}

TEST(SelectiveRecompute, RunsTheCoreOfAttentionAgain) {
  TestContext test = Llama7b();
  test.profile.kept.selective_recompute = SelectiveRecompute::kCoreAttention;
  const DeviceShare device{test.cluster.device};
  const AttentionShape shape{4096, 4096, 32, 128};
  EXPECT_NEAR(Layer(test, "tp1.pp1.dp1.rc=selective.attn=eager").recompute_s,
              UnfusedForwardTime(device, shape, 20.0), 1e-12);
  EXPECT_NEAR(Layer(test, "tp1.pp1.dp1.rc=selective.attn=flash2").recompute_s,
              FlashForwardTime(device, AttentionKernel::kFlash2, shape), 1e-12);
}

// Device-memory bytes per element, forward and backward: a fused RMSNorm 4 and 6, un-fused 20
// and 30.
TEST(Norms, TakeThePublishedTraffic) {
  const TestContext test = Llama7b();
  const LayerTime fused = Layer(test, "tp1.pp1.dp1");
  const LayerTime eager = Layer(test, "tp1.pp1.dp1.norm=eager");
  const double elements = 2.0 * kLayerTimeTokens * kLayerTimeHidden;  // both norms of a layer
  EXPECT_NEAR(eager.forward_s - fused.forward_s, Streamed((20.0 - 4.0) * elements), 1e-12);
  EXPECT_NEAR(eager.input_gradient_s - fused.input_gradient_s, Streamed((30.0 - 6.0) * elements),
              1e-12);
}

// Of queries and keys alone, each as wide as the hidden state here. Where the norm's input is not
// kept beside its output, the backward runs norm and RoPE again.
TEST(Norms, OfHeadsTakeTheTrafficOfQueriesAndKeys) {
  TestContext test = Llama7b();
  const LayerTime plain = Layer(test, "tp2.pp1.dp1");
  test.model.groups.front().attention.qk_norm = true;
  const LayerTime kept = Layer(test, "tp2.pp1.dp1");
  const double elements = 2.0 * kLayerTimeTokens * kLayerTimeHidden / 2.0;
  EXPECT_NEAR(kept.forward_s - plain.forward_s, Streamed(4.0 * elements), 1e-12);
  EXPECT_NEAR(kept.input_gradient_s - plain.input_gradient_s, Streamed(6.0 * elements), 1e-12);
  EXPECT_EQ(kept.weight_gradient_s, plain.weight_gradient_s);
  test.profile.kept.keeps_head_norm_input = false;
  const LayerTime again = Layer(test, "tp2.pp1.dp1");
  EXPECT_EQ(again.forward_s, kept.forward_s);
  EXPECT_NEAR(again.input_gradient_s - kept.input_gradient_s,
              Streamed((4.0 + test.profile.traffic.rope_traffic_bytes) * elements), 1e-12);
}

// SwiGLU 6 and 10 bytes for each inner element in one kernel, 10 and 20 in two.
TEST(SwiGlu, TakesThePublishedTraffic) {
  TestContext test = Llama7b();
  const LayerTime fused = Layer(test, "tp1.pp1.dp1");
  test.profile.kept.fused_swiglu = false;
  const LayerTime eager = Layer(test, "tp1.pp1.dp1");
  EXPECT_NEAR(eager.forward_s - fused.forward_s, Streamed(4.0 * kLayerTimeTokens * kLayerTimeInner),
              1e-12);
  EXPECT_NEAR(eager.input_gradient_s - fused.input_gradient_s,
              Streamed(10.0 * kLayerTimeTokens * kLayerTimeInner), 1e-12);
}

// RoPE 4 bytes for each element of q and k each way, 16 un-fused.
TEST(Rope, TakesThePublishedTraffic) {
  TestContext test = Llama7b();
  const LayerTime fused = Layer(test, "tp1.pp1.dp1");
  test.profile.traffic.rope_traffic_bytes = 16.0;
  const LayerTime eager = Layer(test, "tp1.pp1.dp1");
  const double elements = kLayerTimeTokens * (kLayerTimeHidden + kLayerTimeHidden);
  EXPECT_NEAR(eager.forward_s - fused.forward_s, Streamed(12.0 * elements), 1e-12);
  EXPECT_NEAR(eager.input_gradient_s - fused.input_gradient_s, Streamed(12.0 * elements), 1e-12);
}

// FlashAttention's backward executes 2.5 times its forward.
TEST(Attention, BackwardTakesTwoAndAHalfForwards) {
  TestContext test = Llama7b();
  const LayerTime slow = Layer(test, "tp1.pp1.dp1.attn=flash1");
  const LayerTime fast = Layer(test, "tp1.pp1.dp1.attn=flash2");
  EXPECT_NEAR(slow.input_gradient_s - fast.input_gradient_s,
              2.5 * (slow.forward_s - fast.forward_s), 1e-12);
  EXPECT_GT(slow.forward_s, fast.forward_s);
}

// Two bf16 gradients read and one written for each weight, where that is an operator of its own.
TEST(Gradients, AreAddedUpByAnOperatorWhereTheFrameworkSaysSo) {
  TestContext test = Llama7b();
  const LayerTime by_product = Layer(test, "tp1.pp1.dp1");
  test.profile.traffic.accumulate_traffic_bytes = 6.0;
  const LayerTime by_operator = Layer(test, "tp1.pp1.dp1");
  const double weights =
      4.0 * kLayerTimeHidden * kLayerTimeHidden + 3.0 * kLayerTimeHidden * kLayerTimeInner;
  EXPECT_NEAR(by_operator.weight_gradient_s - by_product.weight_gradient_s, Streamed(6.0 * weights),
              1e-12);
}

// Seconds in which the host issues the forward and the backward of a layer of tp8: passes of
// operators, the attention kernel, and two collectives each way.
struct HostTime {
  double forward_s = 0.0;
  double backward_s = 0.0;
};
HostTime HostTimeOf(TestContext& test, const char* layout, double operator_s) {
  test.profile.traffic.host_share = 1.0;
  test.cluster.host.operator_s = operator_s;
  const Layout parsed = MakeLayout(layout);
  const EstimateContext context = test.get();
  const StepShape step(context, parsed);
  const ListCost& cost = step.planned.block(0).layer_cost;
  return {.forward_s = operator_s * cost.forward_operators,
          .backward_s = operator_s * cost.backward_operators};
}

TEST(HostFloor, BindsWhereTheDeviceIsFaster) {
  TestContext test = PlainContext("llama-2-7b", 2048, 8);
  const HostTime host = HostTimeOf(test, "tp8.pp1.dp1", 2e-4);
  EXPECT_GT(host.forward_s, 10 * 2e-4);
  EXPECT_GT(host.backward_s, host.forward_s);
  const LayerTime layer = Layer(test, "tp8.pp1.dp1");
  EXPECT_NEAR(layer.forward_s + layer.tp_forward_s, host.forward_s, 1e-12);
  EXPECT_NEAR(layer.backward_s() + layer.tp_backward_s, host.backward_s, 1e-12);
}

TEST(HostFloor, IsNothingUnderGraphs) {
  TestContext test = PlainContext("llama-2-7b", 2048, 8);
  const LayerTime free = Layer(test, "tp8.pp1.dp1");
  test.profile.traffic.host_share = 0.0;
  test.cluster.host.operator_s = 1.0;
  EXPECT_DOUBLE_EQ(Layer(test, "tp8.pp1.dp1").forward_s, free.forward_s);
}

TEST(HostFloor, IsNothingToABusyDevice) {
  TestContext test = Llama7b();
  const LayerTime free = Layer(test, "tp1.pp1.dp1.mb4");
  HostTimeOf(test, "tp1.pp1.dp1.mb4", 2e-4);
  const LayerTime floored = Layer(test, "tp1.pp1.dp1.mb4");
  EXPECT_DOUBLE_EQ(floored.forward_s, free.forward_s);
  EXPECT_DOUBLE_EQ(floored.backward_s(), free.backward_s());
}

// A further stop of the ring sends, receives, attends and merges in each direction.
TEST(HostFloor, CountsTheStopsOfARing) {
  TestContext test = PlainContext("llama-2-7b", 8192, 8);
  const HostTime alone = HostTimeOf(test, "tp1.cp1.pp1.dp8", 1.0);
  const HostTime ring = HostTimeOf(test, "tp1.cp4.pp1.dp2", 1.0);
  EXPECT_EQ(ring.forward_s - alone.forward_s, 3 * 4.0);
  EXPECT_EQ(ring.backward_s - alone.backward_s, 3 * 4.0);
}

// Two of 32 heads on each of 16 ranks are two matrices of scores a sequence; the fused kernel takes
// four at a time.
TEST(FusedSoftmax, RunsOperatorByOperatorWhereItsKernelDoesNotTakeTheScores) {
  const TestContext test = PlainContext("llama-2-7b", 2048, 16);
  const auto forward_s = [&test](const char* layout) { return Layer(test, layout).forward_s; };
  EXPECT_EQ(forward_s("tp16.pp1.dp1.mb1.attn=fused_softmax"),
            forward_s("tp16.pp1.dp1.mb1.attn=eager"));
  EXPECT_LT(forward_s("tp16.pp1.dp1.mb2.attn=fused_softmax"),
            forward_s("tp16.pp1.dp1.mb2.attn=eager"));
}

// Of 128 experts a rank of eight has 16. In a format with scales of blocks, or of a tensor's
// largest element, each has four casts and as many kernels for their scales; its products together
// count as one launch.
TEST(HostFloor, CountsTheLaunchesOfEachOfARanksExperts) {
  TestContext test = PlainContext("qwen3-30b-a3b", 4096, 8);
  test.cluster.device.peak_fp8_flops = 2.0 * test.cluster.device.peak_bf16_flops;
  test.profile.traffic.expert_launch_s = 6e-3;
  const auto layer_s = [&](const char* layout, Precision precision) {
    test.training.precision = precision;
    const LayerTime layer = Layer(test, layout);
    return layer.compute_s() + layer.ep_forward_s + layer.ep_backward_s;
  };
  constexpr const char* kEight = "tp1.pp1.dp8.ep8.zero1";
  EXPECT_NEAR(layer_s(kEight, Precision::kBf16), 16 * 6e-3, 1e-12);
  EXPECT_NEAR(layer_s(kEight, Precision::kFp8Delayed), 16 * 6e-3, 1e-12);
  EXPECT_NEAR(layer_s(kEight, Precision::kFp8Current), 16 * 9 * 6e-3, 1e-12);
  EXPECT_NEAR(layer_s(kEight, Precision::kMxfp8), 16 * 9 * 6e-3, 1e-12);
  EXPECT_NEAR(layer_s("tp1.pp1.dp8.ep4.zero1", Precision::kBf16), 32 * 6e-3, 1e-12);
}

// Two rings each way, in both directions: 4 (t - 1) steps that the host drives itself, unless the
// gathered inputs are kept and so come from the collectives' library.
TEST(HostFloor, GrowsWithTheRingsThatTheHostDrives) {
  TestContext test = PlainContext("llama-2-7b", 2048, 8);
  const HostTime host = HostTimeOf(test, "tp8.pp1.dp1", 2e-4);
  test.profile.communication.tp_hop_s = 3e-4;
  const LayerTime layer = Layer(test, "tp8.pp1.dp1");
  const double rings_s = 4.0 * 7.0 * 3e-4;
  EXPECT_NEAR(layer.forward_s + layer.tp_forward_s, host.forward_s + rings_s, 1e-12);
  EXPECT_NEAR(layer.backward_s() + layer.tp_backward_s, host.backward_s + rings_s, 1e-12);
  test.profile.kept.gathered_inputs = GatheredInputs::kAlways;
  const LayerTime kept = Layer(test, "tp8.pp1.dp1");
  EXPECT_NEAR(kept.forward_s + kept.tp_forward_s, host.forward_s, 1e-12);
}

// Compute hides a share of the collectives, and no more than it lasts.
TEST(TensorParallel, IsHiddenAsFarAsTheProfileSays) {
  TestContext test = Llama7b();
  const LayerTime exposed = Layer(test, "tp8.pp1.dp1");
  test.profile.communication.tensor_parallel_overlap = 0.75;
  const LayerTime hidden = Layer(test, "tp8.pp1.dp1");
  EXPECT_NEAR(hidden.tp_forward_s,
              exposed.tp_forward_s - std::min(0.75 * exposed.tp_forward_s, exposed.forward_s),
              1e-12);
  EXPECT_LT(hidden.tp_backward_s, exposed.tp_backward_s);
}

// The last of four ranks attends to 1.75 times as many keys as the mean.
TEST(Ring, WithoutBalanceTheLastRankSetsThePace) {
  TestContext test = PlainContext("llama-2-7b", 32768, 8);
  const double balanced_s = Layer(test, "tp1.cp4.pp1.dp2").forward_s;
  test.profile.communication.balanced_ring = false;
  const double unbalanced_s = Layer(test, "tp1.cp4.pp1.dp2").forward_s;
  EXPECT_GT(unbalanced_s, 1.1 * balanced_s);
  EXPECT_LT(unbalanced_s, 1.75 * balanced_s);
}

// Each product, stream, attention kernel and collective is an operator of its own: two all-reduces
// of a layer's forward where tensors are parallel.
TEST(HostFloor, NoOperatorIsFasterThanTheHostLaunchesTheNext) {
  TestContext test = PlainContext("llama-2-7b", 2048, 8);
  test.profile.traffic.operator_host_s = 1.0;
  const LayerTime alone = Layer(test, "tp1.pp1.dp8");
  EXPECT_GE(alone.forward_s, 10.0);
  EXPECT_DOUBLE_EQ(alone.forward_s, std::round(alone.forward_s));
  EXPECT_EQ(alone.tp_forward_s, 0.0);
  const LayerTime parallel = Layer(test, "tp8.pp1.dp1");
  EXPECT_DOUBLE_EQ(parallel.forward_s, alone.forward_s);
  EXPECT_DOUBLE_EQ(parallel.tp_forward_s, std::round(parallel.tp_forward_s));
  EXPECT_GE(parallel.tp_forward_s, 2.0);
}

// Cross entropy: about 10 bytes a logit fused and 30 un-fused, on 1/t of the vocabulary or, with
// gathered logits, on all of it.
TEST(Head, LossTakesItsTrafficOnTheLogitsItSees) {
  TestContext test = Llama7b();
  const LayerTime fused = Head(test, "tp4.pp1.dp1");
  test.profile.traffic.loss_traffic_bytes = 30.0;
  const LayerTime eager = Head(test, "tp4.pp1.dp1");
  const double logits = kLayerTimeTokens * 32000.0;
  EXPECT_NEAR(eager.compute_s() - fused.compute_s(), Streamed(20.0 * logits / 4.0), 1e-12);
  test.profile.kept.vocab_parallel_loss = false;
  const LayerTime gathered = Head(test, "tp4.pp1.dp1");
  EXPECT_NEAR(gathered.compute_s() - eager.compute_s(), Streamed(30.0 * logits * 3.0 / 4.0), 1e-12);
  EXPECT_EQ(eager.tp_forward_s, 0.0);
  EXPECT_NEAR(gathered.tp_forward_s, 2.0 * logits * 3.0 / 4.0 / kLinkBytesPerS, 1e-12);
}

// On a 13B model a vocabulary of 128k is worth about two layers.
TEST(Head, OfALargeVocabularyIsWorthAboutTwoLayers) {
  const TestContext test = PlainContext("hagemann-13b", 2048, 8);
  const double layers =
      Head(test, "tp1.pp1.dp1").compute_s() / Layer(test, "tp1.pp1.dp1").compute_s();
  EXPECT_NEAR(layers, 2.0, 0.4);
}

TEST(Embedding, IsReadOnceEachWayAndReducedOverTensorRanks) {
  const TestContext test = Llama7b();
  const Layout layout = MakeLayout("tp4.pp1.dp1");
  const EstimateContext context = test.get();
  const LayerTime embedding = EstimateEmbedding(StepShape(context, layout));
  EXPECT_DOUBLE_EQ(embedding.forward_s, Streamed(4.0 * kLayerTimeTokens * kLayerTimeHidden));
  EXPECT_DOUBLE_EQ(embedding.weight_gradient_s, embedding.forward_s);
  EXPECT_DOUBLE_EQ(embedding.tp_forward_s, 2.0 * 3.0 / 4.0 * kActivationBytes / kLinkBytesPerS);
}

TEST(StageTimes, OfAllStagesAddUpToTheModel) {
  const TestContext test = Llama7b();
  const Layout layout = MakeLayout("tp2.pp4.dp1.vpp2");
  const EstimateContext context = test.get();
  const StepShape step(context, layout);
  const StageTimes times(step);
  double stages_s = 0.0;
  for (int32_t stage = 0; stage < 8; ++stage)
    stages_s += times.OfStage(stage).parts[TimePart::kCompute];
  double ranks_s = 0.0;
  for (int32_t rank = 0; rank < 4; ++rank) ranks_s += times.OfRank(rank).parts[TimePart::kCompute];
  const double model_s = 32.0 * EstimateLayer(step, 0).compute_s() +
                         EstimateHead(step).compute_s() + EstimateEmbedding(step).compute_s();
  EXPECT_NEAR(stages_s, model_s, 1e-9);
  EXPECT_NEAR(ranks_s, model_s, 1e-9);
}

// The parts of a schedule are the same time as the parts of the breakdown.
TEST(StageTimes, DurationsAddUpToTheTotal) {
  const TestContext test = Llama7b();
  const Layout layout = MakeLayout("tp2.cp2.pp2.dp1.rc=full");
  const EstimateContext context = test.get();
  const StepShape step(context, layout);
  const StageTime stage = StageTimes(step).OfStage(0);
  EXPECT_NEAR(stage.durations.total_s(), stage.total_s(), 1e-12);
  EXPECT_GT(stage.parts[TimePart::kRecompute], 0.0);
  EXPECT_GT(stage.parts[TimePart::kCp], 0.0);
}

}  // namespace
}  // namespace meshwright::planner

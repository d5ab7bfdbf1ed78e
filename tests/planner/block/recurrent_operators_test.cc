#include "planner/block/recurrent_operators.h"

#include <gtest/gtest.h>

#include <string>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/block/megatron_flops.h"
#include "planner/block/parameters.h"
#include "planner/block/pass.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kRecurrentHidden = 2048;

// Sizes of published models: Qwen3.5-35B-A3B, Kimi-Linear, Ling 3, Nemotron 3 Nano's mixer over
// another hidden width, Jamba, MiniMax-01, LFM2, RecurrentGemma.
Recurrence GatedDelta() {
  return {.kind = RecurrenceKind::kGatedDelta,
          .heads = 32,
          .key_heads = 16,
          .key_dim = 128,
          .value_dim = 128,
          .conv_width = 4,
          .chunk = 64};
}
Recurrence KimiDelta(int64_t gate_rank) {
  return {.kind = RecurrenceKind::kKimiDelta,
          .heads = 32,
          .key_dim = 128,
          .value_dim = 128,
          .conv_width = 4,
          .gate_rank = gate_rank,
          .chunk = 64};
}
Recurrence Mamba2() {
  return {.kind = RecurrenceKind::kMamba2,
          .heads = 64,
          .key_heads = 8,
          .key_dim = 128,
          .value_dim = 64,
          .conv_width = 4,
          .chunk = 128};
}
Recurrence Mamba1() {
  return {.kind = RecurrenceKind::kMamba1,
          .heads = 2 * kRecurrentHidden,
          .key_dim = 16,
          .value_dim = 1,
          .conv_width = 4,
          .gate_rank = 128,
          .inner_norms = true};
}
Recurrence Lightning() {
  return {.kind = RecurrenceKind::kLightning,
          .heads = 64,
          .key_dim = 96,
          .value_dim = 96,
          .chunk = 256};
}
Recurrence ShortConvolution() {
  return {.kind = RecurrenceKind::kShortConvolution,
          .heads = kRecurrentHidden,
          .value_dim = 1,
          .conv_width = 3};
}
Recurrence RgLru() {
  return {.kind = RecurrenceKind::kRgLru, .heads = 8, .value_dim = 256, .conv_width = 4};
}

BlockShape MixerAlone(const Recurrence& recurrence) {
  return {.tokens = 1,
          .hidden = kRecurrentHidden,
          .ffn = FfnKind::kNone,
          .keys = 4096,
          .attention_kind = AttentionKind::kNone,
          .recurrence = recurrence};
}

int64_t MixerParameters(const BlockShape& shape) {
  OperatorList operators;
  AddRecurrence(shape, operators);
  int64_t elements = 0;
  for (const Operator& op : operators) {
    for (const OperatorParameter& parameter : op.parameters) elements += parameter.elements();
  }
  return elements;
}

struct Kind {
  const char* name;
  Recurrence recurrence;
  int64_t parameters;  // as transformers counts them, by the formula of each kind
};

constexpr int64_t h = kRecurrentHidden;
constexpr int64_t kQ = 32 * 128;

const Kind kKinds[] = {
    {"gated_delta", GatedDelta(),
     h*(2 * 2048 + 2 * 4096 + 2 * 32) + 4 * (2 * 2048 + 4096) + 2 * 32 + 128 + 4096 * h},
    {"kimi_low_rank", KimiDelta(128),
     3 * h* kQ + 3 * 4 * kQ + 2 * (h * 128 + 128 * kQ) + kQ + 32 + h * 32 + 128 + kQ* h},
    {"kimi_full", KimiDelta(0),
     3 * h* kQ + 3 * 4 * kQ + 2 * h* kQ + kQ + 32 + h * 32 + 128 + kQ* h},
    {"mamba2", Mamba2(),
     h*(2 * 4096 + 2 * 8 * 128 + 64) + 5 * (4096 + 2 * 8 * 128) + 3 * 64 + 4096 + 4096 * h},
    {"mamba1", Mamba1(),
     2 * h * 4096 + 5 * 4096 + 4096 * (128 + 32) + (128 * 4096 + 4096) + 4096 * 16 + 4096 +
         4096 * h + (128 + 32)},
    {"lightning", Lightning(), 4 * h * 6144 + 6144 * h + 6144},
    {"short_convolution", ShortConvolution(), 3 * h* h + 3 * h + h* h},
    {"rg_lru", RgLru(),
     2 * (h * 2048 + 2048) + (2048 * h + h) + 5 * 2048 + 2048 + 2 * (2048 * 2048 / 8 + 2048)},
};

class Recurrences : public testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(Kinds, Recurrences, testing::ValuesIn(kKinds),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(Recurrences, HaveTheParametersOfTheirClass) {
  EXPECT_EQ(MixerParameters(MixerAlone(GetParam().recurrence)), GetParam().parameters);
}

TEST_P(Recurrences, DivideTheirHeadsUnderTensorParallelism) {
  BlockShape shape = MixerAlone(GetParam().recurrence);
  const OperatorList whole = BlockOperators(shape);
  shape.tp = 4;
  const OperatorList rank = BlockOperators(shape);
  int64_t replicated = 0;
  for (const Operator& op : whole) {
    for (const OperatorParameter& parameter : op.parameters) {
      if (parameter.division == Division::kWhole) replicated += parameter.elements();
    }
  }
  EXPECT_EQ(4 * RankParameters(rank).all, RankParameters(whole).all + 3 * replicated);
  EXPECT_LT(KeptBytes(rank), KeptBytes(whole));
  EXPECT_GT(KeptBytes(rank), KeptBytes(whole) / 4);
}

TEST_P(Recurrences, CostTheSameForAnyLengthOfTheSequence) {
  BlockShape shape = MixerAlone(GetParam().recurrence);
  const PassWork at_4k = WorkOf(BlockOperators(shape), PassKind::kForward);
  shape.keys = 1 << 20;
  const PassWork at_1m = WorkOf(BlockOperators(shape), PassKind::kForward);
  EXPECT_EQ(at_4k.flops, at_1m.flops);
  EXPECT_EQ(at_4k.bytes, at_1m.bytes);
}

TEST_P(Recurrences, KeepTheLayersInputAsACheckpoint) {
  const BlockShape shape = MixerAlone(GetParam().recurrence);
  EXPECT_EQ(KeptBytes(BlockOperators(shape), KeptTensor::kAttentionResidual), 2 * kRecurrentHidden);
}

TEST(RecurrentOperatorsTest, HeadsAreExchangedForTokensUnderContextParallelism) {
  BlockShape shape = MixerAlone(GatedDelta());
  shape.tokens = 1024;
  shape.cp = 2;
  const OperatorList operators = BlockOperators(shape);
  const Operator* core = Find(operators, OperatorName::kMixerCore);
  ASSERT_NE(core, nullptr);
  int64_t bytes = 0;
  for (const OperatorCollective& collective : core->pass(PassKind::kForward).collectives) {
    EXPECT_EQ(collective.kind, CollectiveKind::kAllToAll);
    bytes += collective.bytes;
  }
  // 2 K + 2 U + 2 n_v in, and U out.
  EXPECT_EQ(bytes, 1024 * 2 * (2 * 2048 + 2 * 4096 + 2 * 32 + 4096));
}

TEST(RecurrentOperatorsTest, AGatedDeltaNetKeepsWhatItsKernelsSave) {
  BlockShape shape = MixerAlone(GatedDelta());
  const int64_t k = 2048;
  const int64_t u = 4096;
  const int64_t n = 32;
  EXPECT_EQ(KeptBytes(BlockOperators(shape), KeptTensor::kMixerInput, KeptTensor::kMixerProduct),
            2 * (2 * k + u) + 2 * u + 4 * n * 128 + 2 * u + 4 * n + 2 * n + 2 * 64 * n + 2 * u +
                4 * n + 2 * u);
}

TEST(RecurrentOperatorsTest, AttentionBesideItReadsTheSameInput) {
  BlockShape shape = MixerAlone(Mamba2());
  const int64_t alone = KeptBytes(BlockOperators(shape), KeptTensor::kAttentionNormOutput);
  shape.attention_kind = AttentionKind::kGroupedQuery;
  shape.heads = 16;
  shape.kv_heads = 4;
  shape.head_dim = 128;
  const OperatorList both = BlockOperators(shape);
  EXPECT_EQ(KeptBytes(both, KeptTensor::kAttentionNormOutput), alone);
  EXPECT_NE(Find(both, OperatorName::kAttention), nullptr);
  EXPECT_NE(Find(both, OperatorName::kMixerCore), nullptr);
}

TEST(RecurrentOperatorsTest, AnFfnAloneHasOneNormAndIsItsOwnCheckpoint) {
  BlockShape shape = MixerAlone({});
  shape.ffn = FfnKind::kReluSquared;
  shape.ffn_hidden = 8192;
  const OperatorList operators = BlockOperators(shape);
  EXPECT_EQ(RankParameters(operators).all, 2 * kRecurrentHidden * 8192 + kRecurrentHidden);
  EXPECT_EQ(KeptBytes(operators, KeptTensor::kAttentionResidual), 2 * kRecurrentHidden);
}

ModelSpec NemotronNano() {
  const LayerGroup mamba = {
      .attention = kNoAttention, .ffn = kNoFfn, .count = 23, .recurrence = Mamba2()};
  Ffn moe{.kind = FfnKind::kReluSquared, .hidden = 1856};
  moe.experts = {.count = 128, .top_k = 6, .shared_hidden = 3712};
  const LayerGroup experts = {.attention = kNoAttention, .ffn = moe, .count = 23};
  const Attention heads{.heads = 32, .kv_heads = 2, .head_dim = 128};
  const LayerGroup attention = {.attention = heads, .ffn = kNoFfn, .count = 6};
  ModelSpec model;
  model.hidden = 2688;
  model.vocab = 131072;
  model.positions = Positions::kNone;
  model.groups = {mamba, experts, attention};
  return model;
}

// NVIDIA's table of performance (26.02 to 26.08): TFLOP/s over tokens/s of 20 rows, 2.210e10 to
// 2.256e10.
TEST(MegatronFlopsTest, NemotronNanoCountsAsPublished) {
  const TrainingSpec training = {.seq_len = 8192, .global_batch = 1};
  const double token = MegatronStepFlops(NemotronNano(), training) / 8192.0;
  EXPECT_NEAR(token, 2.228e10, 0.01 * 2.228e10);
  // What runs: the heads of the model are narrower than twice its hidden width.
  EXPECT_NEAR(CausalStepFlops(NemotronNano(), training) / 8192.0, 2.076e10, 0.02 * 2.076e10);
}

TEST(RecurrenceTest, KeyHeadsMustDivideHeads) {
  Recurrence recurrence = GatedDelta();
  recurrence.key_heads = 12;
  EXPECT_EQ(Validate(recurrence, kRecurrentHidden).message(),
            "linear_num_key_heads = 12: must divide linear_num_value_heads = 32");
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/rules/rule_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "planner/catalog/catalog.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

struct BrokenBy {
  const char* layout;
  int64_t devices;
  Rule rule;
  const char* sentence;
};

class BrokenRule : public testing::TestWithParam<BrokenBy> {};

TEST_P(BrokenRule, IsNamedWithASentence) {
  // 32 layers, 32 heads, 8 key/value heads.
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  const auto violation =
      CheckLayout(context.get(), GetParam().devices, MakeLayout(GetParam().layout));
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(RuleName(violation->rule), RuleName(GetParam().rule));
  EXPECT_EQ(Describe(*violation), GetParam().sentence);
}

INSTANTIATE_TEST_SUITE_P(
    Each, BrokenRule,
    testing::Values(
        BrokenBy{"tp2.pp2.dp1", 8, Rule::kDevices,
                 "tp * cp * pp * dp is 4, but there are 8 devices"},
        BrokenBy{"tp1.pp3.dp1", 3, Rule::kLayersDivision,
                 "32 layers can't be divided over pp * vpp = 3 stages"},
        BrokenBy{"tp3.pp1.dp1", 3, Rule::kHeadsDivision,
                 "32 attention heads are not a multiple of tp = 3"},
        BrokenBy{"tp16.pp1.dp1", 16, Rule::kKvHeadsDivision,
                 "8 key/value heads are not a multiple of tp = 16"},
        BrokenBy{"tp1.cp3.pp1.dp1", 3, Rule::kContextDivision,
                 "sequence length 8192 is not a multiple of 2 * cp = 6"},
        BrokenBy{"tp1.pp1.dp1.sp1", 1, Rule::kSequenceParallelTp,
                 "sequence parallel (sp1) needs tp of at least 2"},
        BrokenBy{
            "tp1.pp2.dp1.vpp2.sched=1f1b", 2, Rule::kScheduleChunks,
            "vpp = 2 is not possible with this schedule and pp = 2: interleaved needs vpp and pp "
            "of at least 2; zb_v, v_half and v_half_vocab1 need vpp 2; the others need vpp 1"},
        BrokenBy{
            "tp1.pp1.dp1.vpp2", 1, Rule::kScheduleChunks,
            "vpp = 2 is not possible with this schedule and pp = 1: interleaved needs vpp and pp "
            "of at least 2; zb_v, v_half and v_half_vocab1 need vpp 2; the others need vpp 1"},
        BrokenBy{"tp1.pp8.dp1.rc=block:5", 8, Rule::kRecomputeLayers,
                 "rc=block:5 recomputes more layers than the 4 of a chunk"},
        BrokenBy{"tp2.pp1.dp1.zero1", 2, Rule::kZeroRanks,
                 "zero1 has nothing to shard over: dp * cp is 1"},
        BrokenBy{"tp1.pp2.dp2.zero3", 4, Rule::kFramework,
                 "the framework does not combine ZeRO 2 and 3 with pipeline parallel, only ZeRO 0 "
                 "and 1"},
        BrokenBy{"tp1.pp2.dp2.sched=zb_h1", 4, Rule::kFramework,
                 "the framework does not have this schedule; it has gpipe, 1f1b, interleaved"},
        BrokenBy{"tp1.pp1.dp3", 3, Rule::kBatchDivision,
                 "global batch 64 is not a multiple of dp * micro-batch = 3"},
        BrokenBy{"tp1.pp1.dp1.mb3", 1, Rule::kBatchDivision,
                 "global batch 64 is not a multiple of dp * micro-batch = 3"},
        BrokenBy{"tp1.pp16.dp8.vpp2", 128, Rule::kInterleaveBatches,
                 "8 micro-batches are not a multiple of pp = 16, as interleaving needs"}));

TEST(Rules, AcceptALayoutThatRuns) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  EXPECT_FALSE(CheckLayout(context.get(), 32, MakeLayout("tp2.cp2.pp4.dp2.vpp4.zero1.sp1")));
}

TEST(Rules, HaveNamesOfTheirOwnAndSayOneThing) {
  std::set<std::string_view> names;
  for (const RuleEntry& entry : Rules()) {
    names.insert(entry.name);
    EXPECT_EQ(RuleName(entry.rule), entry.name);
    EXPECT_NE(entry.text.empty(), entry.describe == nullptr) << entry.name;
  }
  EXPECT_EQ(names.size(), kRuleCount);
}

TEST(Rules, NamedStagesAreAllOfThePipelineAndTheModel) {
  const auto sentence = [](const char* framework, const char* layout) {
    const TestContext context = MakeContext("llama-2-7b", "h100", 4096, 64, framework);
    const auto violation = CheckLayout(context.get(), 4, MakeLayout(layout));
    return violation ? Describe(*violation) : "";
  };
  EXPECT_EQ(sentence("megatron", "tp1.pp4.dp1.stages=7+2x9+7"), "");
  EXPECT_EQ(sentence("megatron", "tp1.pp2.dp2.vpp2.stages=0+2x15+2"), "");
  EXPECT_EQ(sentence("megatron", "tp1.pp4.dp1.stages=16+16"),
            "stages= names 2 stages, but pp * vpp is 4");
  EXPECT_EQ(sentence("megatron", "tp1.pp4.dp1.stages=4x9"),
            "stages= holds 36 layers, but the model has 32");
  EXPECT_EQ(sentence("megatron", "tp1.pp4.dp1.stages=16+0+2x8"),
            "stages= leaves stage 1 without layers; only the first, which has the embedding, and "
            "the last, which has the head, may be without");
  EXPECT_EQ(sentence("nanotron", "tp1.pp4.dp1.stages=7+2x9+7"),
            "the framework spreads layers over the stages by a rule of its own (no stages=)");
}

TEST(Rules, HsdpDividesTheReplicasOfFrameworksThatHaveIt) {
  const TestContext titan = MakeContext("llama-3-8b", "h100", 8192, 64, "torchtitan-fsdp");
  const auto sentence = [](const TestContext& context, const char* layout) {
    const auto violation = CheckLayout(context.get(), 16, MakeLayout(layout));
    return violation ? Describe(*violation) : "";
  };
  EXPECT_EQ(sentence(titan, "tp1.pp1.dp16.zero3.hs=8"), "");
  EXPECT_EQ(sentence(titan, "tp1.cp2.pp1.dp8.zero2.hs=4"), "");
  EXPECT_EQ(sentence(titan, "tp1.pp1.dp16.zero3.hs=6"),
            "dp * cp = 16 ranks can't be divided into groups of hs=6");
  EXPECT_EQ(sentence(titan, "tp1.pp1.dp16.zero0.hs=8"),
            "hs=8 is the number of ranks over which ZeRO shards: it needs zero1, 2 or 3");
  const TestContext worker = MakeContext("llama-2-7b", "h100", 4096, 64, "meshwright");
  EXPECT_EQ(sentence(worker, "tp1.pp1.dp16.zero3.hs=8"), "");
  const TestContext nanotron = MakeContext("llama-2-7b", "h100", 4096, 64, "nanotron");
  EXPECT_EQ(sentence(nanotron, "tp1.pp1.dp16.zero1.hs=8"),
            "HSDP (hs=) is not planned for this framework, only ZeRO over all dp * cp ranks");
}

TEST(Rules, ExpertsAreDividedOverTheRanksOfAStage) {
  const auto sentence = [](const char* model, const char* layout,
                           const char* framework = "megatron") {
    const TestContext context = MakeContext(model, "h100", 4096, 64, framework);
    const auto violation = CheckLayout(context.get(), 16, MakeLayout(layout));
    return violation ? Describe(*violation) : "";
  };
  EXPECT_EQ(sentence("mixtral-8x7b", "tp1.pp1.dp16.ep8.zero1"), "");
  EXPECT_EQ(sentence("mixtral-8x7b", "tp2.pp2.dp4.ep4.etp2.sp1.zero1"), "");
  EXPECT_EQ(sentence("mixtral-8x7b", "tp1.pp1.dp16.ep16.zero1"),
            "8 experts are not a multiple of ep = 16");
  EXPECT_EQ(sentence("mixtral-8x7b", "tp2.pp4.dp2.ep8.sp1"),
            "tp * cp * dp = 4 ranks can't be divided into groups of ep * etp = 8");
  EXPECT_EQ(sentence("mixtral-8x7b", "tp1.pp1.dp16.etp3"),
            "expert width 14336 is not a multiple of etp = 3");
  EXPECT_EQ(sentence("mixtral-8x7b", "tp2.pp1.dp8.ep8"),
            "experts under tp2 need sequence parallel (sp1): without it all tp ranks route the "
            "same tokens");
  EXPECT_EQ(sentence("llama-2-7b", "tp1.pp1.dp16.ep8"),
            "ep8 and etp1 divide experts, but the model has none");
  EXPECT_EQ(sentence("mixtral-8x7b", "tp1.pp1.dp16.ep8.zero3.hs=4", "torchtitan-fsdp"),
            "experts under hs= need groups of hs * tp = 4 ranks that consist of groups of ep * etp "
            "= 8, and a framework other than Meshwright's own worker");
  EXPECT_EQ(sentence("mixtral-8x7b", "tp1.pp1.dp16.ep8.zero3.hs=8", "torchtitan-fsdp"), "");
  EXPECT_EQ(sentence("mixtral-8x7b", "tp1.pp1.dp16.ep8.zero1", "nanotron"),
            "models with experts are not planned for this framework, only dense ones");
}

// A layout that breaks one of them would run with another global batch. Behind them only what needs
// the layout's memory, and what is dominated, which can run.
TEST(Rules, AskForTheBatchLast) {
  EXPECT_EQ(Rules()[kRuleCount - 1].rule, Rule::kDominated);
  EXPECT_EQ(Rules()[kRuleCount - 2].rule, Rule::kHostMemory);
  for (size_t i = 0; i + 2 < kRuleCount; ++i) {
    const Rule rule = Rules()[i].rule;
    const bool is_about_batch = rule == Rule::kBatchDivision || rule == Rule::kInterleaveBatches ||
                                rule == Rule::kZeroBubbleBatches;
    EXPECT_EQ(is_about_batch, i + 5 >= kRuleCount) << Rules()[i].name;
  }
}

TEST(Rules, DoNotPadTheVocabularyWhereTheFrameworkDoesNot) {
  TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  context.model.vocab = 32001;
  EXPECT_FALSE(CheckLayout(context.get(), 2, MakeLayout("tp2.pp1.dp1")));
  context.profile.supports.vocab_multiple = 0;
  EXPECT_EQ(CheckLayout(context.get(), 2, MakeLayout("tp2.pp1.dp1"))->rule, Rule::kVocabDivision);
}

TEST(Rules, CountTheMicroBatchesThatAZeroBubbleScheduleNeeds) {
  TestContext context = MakeContext("llama-3-8b", "h100", 8192, 6, "meshwright");
  EXPECT_FALSE(CheckLayout(context.get(), 4, MakeLayout("tp1.pp4.dp1.sched=zb_h1")));
  const auto few = CheckLayout(context.get(), 4, MakeLayout("tp1.pp4.dp1.vpp2.sched=zb_v"));
  ASSERT_TRUE(few.has_value());
  EXPECT_EQ(Describe(*few),
            "6 micro-batches are fewer than the 7 that hide the bubble: zb_h1 needs pp, zb_v "
            "2 * pp - 1, v_half 2 * pp");
}

TEST(KernelRules, HeadsOfSeveralSizesAreRefusedWhereAllLayersMustHaveOne) {
  TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64, "meshwright");
  ASSERT_TRUE(context.profile.supports.kernels.one_head_dim);
  const auto violation = [&] { return CheckLayout(context.get(), 1, MakeLayout("tp1.pp1.dp1")); };
  // Two groups of layers, of which only the FFN differs.
  context.model.groups.push_back(context.model.groups.front());
  context.model.groups.back().ffn.hidden *= 2;
  EXPECT_FALSE(violation());
  context.model.groups.back().attention.head_dim = 64;
  ASSERT_TRUE(violation());
  EXPECT_EQ(violation()->rule, Rule::kOneHeadDim);
  EXPECT_EQ(Describe(*violation()),
            "the worker can't run head_dim = 128 and 64; it runs one head_dim for all layers");
  context.profile.supports.kernels.one_head_dim = false;
  EXPECT_FALSE(violation());
}

// What is said of layers and kernels is refused to everybody who asks; what is not said is not.
TEST(KernelRules, LimitOnlyTheProfileThatHasThem) {
  TestContext worker = MakeContext("llama-3-8b", "h100", 8192, 64, "meshwright");
  TestContext other = MakeContext("llama-3-8b", "h100", 8192, 64, "megatron");
  const auto rule_of = [](const TestContext& context, const char* layout) {
    const auto violation = CheckLayout(context.get(), 1, MakeLayout(layout));
    return violation ? violation->rule : Rule::kCount;
  };
  const char* plain = "tp1.pp1.dp1";
  EXPECT_EQ(rule_of(worker, plain), Rule::kCount);
  EXPECT_EQ(rule_of(worker, "tp1.pp1.dp1.attn=eager"), Rule::kAttentionKernel);
  EXPECT_EQ(rule_of(other, "tp1.pp1.dp1.attn=eager"), Rule::kCount);
  EXPECT_EQ(rule_of(worker, "tp1.pp1.dp1.norm=eager"), Rule::kNormKernel);
  EXPECT_EQ(rule_of(other, "tp1.pp1.dp1.norm=eager"), Rule::kCount);
  for (TestContext* context : {&worker, &other}) {
    context->model.groups.front().ffn.kind = FfnKind::kGelu;
    context->training.precision = Precision::kFp64;
    context->model.groups.front().attention.head_dim = 4099;
  }
  EXPECT_EQ(rule_of(worker, plain), Rule::kPrecision);
  EXPECT_EQ(rule_of(other, plain), Rule::kCount);
  worker.training.precision = Precision::kBf16;
  EXPECT_EQ(rule_of(worker, plain), Rule::kHeadDim);
  worker.profile.supports.kernels.ffn = {FfnKind::kSwiGlu};
  EXPECT_EQ(rule_of(worker, plain), Rule::kFfnKind);
  worker.model.groups.front().ffn.kind = FfnKind::kSwiGlu;
  EXPECT_EQ(rule_of(worker, plain), Rule::kHeadDim);
  worker.model.groups.front().attention.head_dim = 4098;
  EXPECT_EQ(rule_of(worker, plain), Rule::kCudaHeadDim);
  worker.cluster = FindCluster("local-cpu", /*host_cores=*/2).value();
  EXPECT_EQ(rule_of(worker, plain), Rule::kCount);
}

TEST(KernelRules, LimitRanksAndChunks) {
  TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64, "meshwright");
  context.profile.supports.kernels.max_cp = 2;
  context.profile.supports.kernels.max_vpp = 4;
  context.profile.supports.kernels.qk_norm = false;
  EXPECT_FALSE(CheckLayout(context.get(), 2, MakeLayout("tp1.cp2.pp1.dp1")));
  EXPECT_EQ(Describe(*CheckLayout(context.get(), 4, MakeLayout("tp1.cp4.pp1.dp1"))),
            "the worker can't run cp4; it runs cp up to 2");
  EXPECT_EQ(Describe(*CheckLayout(context.get(), 2, MakeLayout("tp1.pp2.dp1.vpp8"))),
            "the worker can't run vpp8; it runs vpp up to 4");
  context.model.groups.front().attention.qk_norm = true;
  EXPECT_EQ(CheckLayout(context.get(), 1, MakeLayout("tp1.pp1.dp1"))->rule, Rule::kQkNorm);
}

TEST(LimitRules, RefuseWhatThePlannerCannotCount) {
  TestContext context = MakeContext("llama-3-8b", "h100", 1 << 24, 64);
  context.model.groups.front().count = 1 << 16;
  context.model.vocab = 1 << 20;
  const auto violation = CheckLayout(context.get(), 1, MakeLayout("tp1.pp1.dp1.mb64"));
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(violation->rule, Rule::kTooLarge);
}

TEST(ModelPartRule, TheWorkerNamesEveryPartThatItHasNoLayerFor) {
  struct Case {
    const char* part;
    void (*change)(ModelSpec&);
  };
  const Case cases[] = {
      {"learned_positions",
       [](ModelSpec& m) {
         m.positions = Positions::kLearned;
         m.learned_positions = 1024;
       }},
      {"alibi", [](ModelSpec& m) { m.positions = Positions::kAlibi; }},
      {"embedding_norm", [](ModelSpec& m) { m.embedding_norm = true; }},
      {"parallel_block", [](ModelSpec& m) { m.arrangement = Arrangement::kParallel; }},
      {"parallel_block", [](ModelSpec& m) { m.arrangement = Arrangement::kParallelOneNorm; }},
      {"norm_behind", [](ModelSpec& m) { m.arrangement = Arrangement::kNormBehind; }},
      {"sandwich_norms", [](ModelSpec& m) { m.arrangement = Arrangement::kSandwich; }},
      {"other_value_width", [](ModelSpec& m) { m.groups.front().attention.value_dim = 64; }},
      {"head_bias", [](ModelSpec& m) { m.head_bias = true; }},
      {"further_tokens", [](ModelSpec& m) { m.mtp_layers = 1; }},
      {"qk_norm_over_width",
       [](ModelSpec& m) {
         m.groups.front().attention.qk_norm = true;
         m.groups.front().attention.qk_norm_over_width = true;
       }},
  };
  const FrameworkProfile worker = FindProfile("meshwright").value();
  const TrainingSpec training{.seq_len = 256, .global_batch = 1};
  const auto check = [&](const ModelSpec& model) {
    return CheckLayout({.model = model, .training = training, .profile = worker, .devices = 1},
                       Layout());
  };
  const ModelSpec llama = FindModel("tinystories-15m").value();
  ASSERT_FALSE(check(llama));
  for (const Case& changed : cases) {
    ModelSpec model = llama;
    changed.change(model);
    const auto violation = check(model);
    ASSERT_TRUE(violation) << changed.part;
    EXPECT_EQ(violation->rule, Rule::kModelPart) << changed.part;
    EXPECT_THAT(Describe(*violation), testing::HasSubstr("the worker can't run a model with " +
                                                         std::string(changed.part)));
  }
}

TEST(RuleList, TheWorkerRunsGptOssOnCpusAlone) {
  const FrameworkProfile worker = FindProfile("meshwright").value();
  const ModelSpec model = FindModel("gpt-oss-20b").value();
  const TrainingSpec training{.seq_len = 4096, .global_batch = 32};
  const Layout layout = ParseLayout("tp1.pp1.dp32.ep32").value();
  const auto check = [&](DeviceKind device) {
    return CheckLayout(
        {.model = model, .training = training, .profile = worker, .devices = 32, .device = device},
        layout);
  };
  const auto on_cpu = check(DeviceKind::kCpu);
  EXPECT_FALSE(on_cpu) << Describe(*on_cpu);
  EXPECT_THAT(Describe(*check(DeviceKind::kCuda)),
              testing::HasSubstr("on cuda; it runs it on cpu"));
}

TEST(RuleList, TheWorkerRunsWindowsOnDevicesWithFlashAttentionAndLatentsWithAny) {
  const FrameworkProfile worker = FindProfile("meshwright").value();
  TrainingSpec training{.seq_len = 256, .global_batch = 1};
  Layout layout;
  const auto check = [&](const ModelSpec& model, DeviceKind device) {
    return CheckLayout(
        {.model = model, .training = training, .profile = worker, .devices = 1, .device = device},
        layout);
  };
  ModelSpec windows = FindModel("tinystories-15m").value();
  windows.groups.front().attention.window = 64;
  ModelSpec latent = FindModel("tinystories-15m").value();
  Attention& attention = latent.groups.front().attention;
  attention = {.kind = AttentionKind::kLatent,
               .heads = attention.heads,
               .kv_heads = attention.heads,
               .head_dim = 48,
               .value_dim = 32,
               .query_rank = 32,
               .kv_rank = 16,
               .rotary_dim = 16};
  EXPECT_FALSE(check(windows, DeviceKind::kCpu));
  EXPECT_FALSE(check(latent, DeviceKind::kCpu));
  EXPECT_FALSE(check(windows, DeviceKind::kCuda));
  EXPECT_FALSE(check(latent, DeviceKind::kCuda));
  layout.attention = AttentionKernel::kCudnn;
  EXPECT_FALSE(check(latent, DeviceKind::kCuda));
  EXPECT_EQ(Describe(*check(windows, DeviceKind::kCuda)),
            "the worker can't run a model with sliding_window on cuda in bf16 with attn=cudnn; it "
            "runs it there in bf16 with attn=flash2, and on cpu");
  // Flash attention gets values that are filled up, cuDNN gets them as they are.
  attention.value_dim = 20;
  EXPECT_EQ(Describe(*check(latent, DeviceKind::kCuda)),
            "the worker can't run head_dim = 20 in bf16 with attn=cudnn on cuda; it runs multiples "
            "of 8 up to 128");
  layout.attention = AttentionKernel::kDefault;
  EXPECT_FALSE(check(latent, DeviceKind::kCuda));
  training.precision = Precision::kFp32;
  EXPECT_FALSE(check(latent, DeviceKind::kCuda));
  EXPECT_THAT(Describe(*check(windows, DeviceKind::kCuda)),
              testing::HasSubstr("sliding_window on cuda in fp32 with attn=flash2"));
  training.precision = Precision::kBf16;
  attention.value_dim = 32;
  attention.query_rank = 0;
  EXPECT_THAT(Describe(*check(latent, DeviceKind::kCpu)),
              testing::HasSubstr("can't run a model with queries_without_latent"));
  attention.query_rank = 32;
  attention.value_dim = 64;
  EXPECT_THAT(Describe(*check(latent, DeviceKind::kCpu)),
              testing::HasSubstr("can't run a model with wide_values"));
  attention.value_dim = 32;
  attention.rotary_dim = 15;
  EXPECT_EQ(check(latent, DeviceKind::kCpu)->rule, Rule::kHeadDim);
}

}  // namespace
}  // namespace meshwright::planner

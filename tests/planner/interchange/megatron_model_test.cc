#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "planner/catalog/plan_query.h"
#include "planner/interchange/export.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ExportJob MegatronJob(const char* model, const char* layout) {
  return {.model = ResolveModel({.name = model, .json = ""}, 4096).value(),
          .training = {.seq_len = 4096, .global_batch = 64},
          .layout = MakeLayout(layout)};
}

std::string Text(const ExportJob& job) {
  const auto text = Export(ExportTarget::kMegatron, job);
  return text.ok() ? *text : std::string(text.status().message());
}

std::string MegatronScript(const char* model, const char* layout) {
  return Text(MegatronJob(model, layout));
}

TEST(MegatronModel, WritesExpertsAndTheirLayers) {
  EXPECT_THAT(
      MegatronScript("mixtral-8x7b", "tp2.pp1.dp8.mb1.zero1.sp1.ep4.etp2"),
      AllOf(HasSubstr("--expert-model-parallel-size 4 --expert-tensor-parallel-size 2"),
            HasSubstr("--num-experts 8 --moe-ffn-hidden-size 14336 --moe-grouped-gemm"),
            HasSubstr("--moe-router-topk 2 --moe-router-score-function softmax"),
            HasSubstr("--moe-token-dispatcher-type alltoall"), Not(HasSubstr("--moe-layer-freq")),
            Not(HasSubstr("pre-softmax")), Not(HasSubstr("shared"))));
  EXPECT_THAT(MegatronScript("llama-3-8b", "tp1.pp1.dp8"), Not(HasSubstr("expert")));
  EXPECT_THAT(
      MegatronScript("glm-4.5-air", "tp1.pp1.dp8.mb1.zero1.ep8"),
      AllOf(HasSubstr("--ffn-hidden-size 10944"), HasSubstr("--moe-ffn-hidden-size 1408"),
            HasSubstr("--moe-layer-freq '([0]*1+[1]*45)'"), HasSubstr("--rotary-percent 0.5"),
            HasSubstr("--moe-shared-expert-intermediate-size 1408"),
            HasSubstr("--moe-router-score-function sigmoid --moe-router-dtype fp32 "
                      "--moe-router-enable-expert-bias")));
  EXPECT_THAT(MegatronScript("llama-4-maverick", "tp1.pp1.dp8.mb1.zero1.ep8"),
              HasSubstr("--moe-layer-freq '([0]*1+[1]*1)*24'"));
}

TEST(MegatronModel, WeighsOneExpertByASoftmaxOverAllAndPadsToCapacity) {
  ExportJob job = MegatronJob("mixtral-8x7b", "tp1.pp1.dp8.mb1.zero1.ep8");
  job.model.groups.front().ffn.experts.top_k = 1;
  job.model.groups.front().ffn.experts.capacity_factor = 1.25;
  EXPECT_THAT(Text(job), AllOf(HasSubstr("--moe-router-pre-softmax"),
                               HasSubstr("--moe-expert-capacity-factor 1.25 "
                                         "--moe-pad-expert-input-to-capacity")));
}

TEST(MegatronModel, WritesGptOssWithItsBiasesSinksAndClampedActivation) {
  EXPECT_THAT(MegatronScript("gpt-oss-20b", "tp1.pp1.dp8.mb1.zero1.ep8"),
              AllOf(HasSubstr("--quick-geglu --glu-linear-offset 1.0 "
                              "--activation-func-clamp-value 7"),
                    HasSubstr("--softmax-type learnable"), HasSubstr("--window-size 127,0"),
                    HasSubstr("--window-attn-skip-freq '([1]*1+[0]*1)*12'"),
                    Not(HasSubstr("--disable-bias-linear")), Not(HasSubstr("--swiglu"))));
  ExportJob job = MegatronJob("gpt-oss-20b", "tp1.pp1.dp8.mb1.zero1.ep8");
  for (LayerGroup& group : job.model.groups) group.ffn.experts.router_bias = false;
  EXPECT_THAT(Text(job),
              HasSubstr("Megatron-LM has biases on all linear layers, on QKV alone or on none"));
}

TEST(MegatronModel, WritesTheWeightsOfARoutersLosses) {
  ExportJob job = MegatronJob("mixtral-8x7b", "tp1.pp1.dp8.mb1.zero1.ep8");
  job.model.groups.front().ffn.experts.balance_loss = 0.02;
  job.model.groups.front().ffn.experts.z_loss = 0.001;
  EXPECT_THAT(Text(job),
              AllOf(HasSubstr("--moe-aux-loss-coeff 0.02"), HasSubstr("--moe-z-loss-coeff 0.001")));
}

TEST(MegatronModel, WritesLatentAttentionAndFurtherTokens) {
  EXPECT_THAT(MegatronScript("deepseek-v3", "tp2.pp2.dp16.mb1.zero1.sp1.ep32.stages=31+30"),
              AllOf(HasSubstr("--multi-latent-attention --num-attention-heads 128"),
                    HasSubstr("--kv-lora-rank 512 --q-lora-rank 1536"),
                    HasSubstr("--qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128"),
                    HasSubstr("--rope-type yarn --rotary-scaling-factor 40 --mscale 1.0 "
                              "--mscale-all-dim 1.0"),
                    HasSubstr("--moe-router-topk-scaling-factor 2.5"),
                    HasSubstr("--mtp-num-layers 1"), HasSubstr("--moe-layer-freq '([0]*3+[1]*58)'"),
                    HasSubstr("--moe-router-num-groups 8 --moe-router-group-topk 4"),
                    HasSubstr(std::string(30, 't') + "mL'"), Not(HasSubstr("query-groups"))));
  EXPECT_THAT(MegatronScript("deepseek-v2-lite", "tp1.pp1.dp8.mb1.zero1.ep8"),
              AllOf(HasSubstr("--kv-lora-rank 512 \\\n"), Not(HasSubstr("--q-lora-rank"))));
}

TEST(MegatronModel, WritesWindowsAndTheLayersThatHaveThem) {
  ExportJob job = MegatronJob("llama-3-8b", "tp1.pp1.dp8");
  LayerGroup& group = job.model.groups.front();
  group.attention.window = 1024;
  EXPECT_THAT(Text(job), AllOf(HasSubstr("--window-size 1023,0"), Not(HasSubstr("skip-freq"))));
  LayerGroup full = group;
  full.attention.window = 0;
  group.count = 3;
  full.count = 1;
  std::vector<LayerGroup> groups;
  for (int i = 0; i < 8; ++i) groups.insert(groups.end(), {job.model.groups.front(), full});
  job.model.groups = groups;
  EXPECT_THAT(Text(job), HasSubstr("--window-attn-skip-freq '([1]*3+[0]*1)*8'"));
  job.model.groups.front().attention.heads *= 2;
  EXPECT_THAT(Text(job), HasSubstr("Megatron-LM's layers differ in experts and windows alone"));
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/interchange/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "base/text/field_error.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ExportJob Job(const char* model, const char* layout, int64_t global_batch = 64) {
  return {.model = FindModel(model).value(),
          .training = {.seq_len = 4096, .global_batch = global_batch},
          .layout = MakeLayout(layout)};
}

std::string Megatron(const char* model, const char* layout) {
  const auto text = Export(ExportTarget::kMegatron, Job(model, layout));
  return text.ok() ? *text : std::string(text.status().message());
}

std::string Torchtitan(const char* model, const char* layout) {
  const auto text = Export(ExportTarget::kTorchtitan, Job(model, layout));
  return text.ok() ? *text : std::string(text.status().message());
}

TEST(ExportMegatron, WritesTheAxes) {
  EXPECT_THAT(Megatron("llama-3-8b", "tp2.cp2.pp4.dp2.mb2.vpp4.zero1.sp1"),
              AllOf(HasSubstr("--tensor-model-parallel-size 2 --pipeline-model-parallel-size 4 "
                              "--context-parallel-size 2"),
                    HasSubstr("--num-virtual-stages-per-pipeline-rank 4"),
                    HasSubstr("--sequence-parallel"), HasSubstr("--use-distributed-optimizer"),
                    HasSubstr("--micro-batch-size 2 --global-batch-size 64"),
                    HasSubstr("--nnodes 4 --nproc-per-node 8"),
                    HasSubstr("export CUDA_DEVICE_MAX_CONNECTIONS=1")));
}

TEST(Export, RefusesAdaptersAndFrozenWeightsByName) {
  for (const ExportTarget target : {ExportTarget::kMegatron, ExportTarget::kTorchtitan}) {
    ExportJob job = Job("llama-3-8b", "tp1.pp1.dp8.mb1.zero3");
    for (const char* train : {"lora:16", "frozen:embedding"}) {
      job.training.options.train = ParseTrainedParts(train).value();
      EXPECT_EQ(FieldOf(Export(target, job).status()), "train") << train;
    }
  }
}

TEST(ExportMegatron, WritesWhatIsOffloaded) {
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.zero3.offload=act:31"),
              AllOf(HasSubstr("--cpu-offloading-num-layers 31"),
                    Not(HasSubstr("--optimizer-cpu-offload"))));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp2.dp4.zero1.offload=opt"),
              AllOf(HasSubstr("--optimizer-cpu-offload --optimizer-offload-fraction 1.0 "
                              "--overlap-cpu-optimizer-d2h-h2d --use-precision-aware-optimizer"),
                    HasSubstr("--use-distributed-optimizer"), Not(HasSubstr("--cpu-offloading"))));
  EXPECT_THAT(Megatron("llama-3-8b", "tp4.pp2.dp1.offload=opt"),
              HasSubstr("--use-distributed-optimizer"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.zero1.offload=act:32"),
              HasSubstr("fewer layers than the model's 32; must be at most act:31"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.zero0.offload=opt"),
              HasSubstr("must be zero1 with offload=opt"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.zero3.offload=opt"),
              HasSubstr("must be zero1 with offload=opt"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp2.dp4.zero1.offload=act:4"),
              HasSubstr("does not combine offload=act:N with pipeline parallel"));
}

TEST(ExportTorchtitan, RefusesWhatIsOffloaded) {
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp1.pp1.dp8.zero3.offload=opt"),
              HasSubstr("enable_cpu_offload also offloads weights and gradients"));
}

TEST(ExportMegatron, WritesTheRecipeOfNarrowProducts) {
  ExportJob job = Job("llama-3-8b", "tp1.pp1.dp8.zero1");
  const std::pair<Precision, const char*> recipes[] = {
      {Precision::kFp8Delayed, "--fp8-format hybrid --fp8-recipe delayed"},
      {Precision::kFp8Current, "--fp8-format hybrid --fp8-recipe tensorwise"},
      {Precision::kFp8Blockwise, "--fp8-format hybrid --fp8-recipe blockwise"},
      {Precision::kMxfp8, "--fp8-format hybrid --fp8-recipe mxfp8"},
      {Precision::kNvfp4, "--fp4-format e2m1 --fp4-recipe nvfp4"}};
  for (const auto& [precision, flags] : recipes) {
    job.training.precision = precision;
    EXPECT_THAT(Export(ExportTarget::kMegatron, job).value(),
                AllOf(HasSubstr(flags), HasSubstr("--bf16")));
  }
  job.layout = MakeLayout("tp1.pp1.dp8.zero3");
  EXPECT_THAT(std::string(Export(ExportTarget::kTorchtitan, job).status().message()),
              HasSubstr("dtype = nvfp4: is not exported for torchtitan"));
}

// Names and keys come from files that others wrote; a script runs what stands on a line of its own.
TEST(Export, NoNameOrKeyOfAModelBecomesALineOfItsOwn) {
  ExportJob job = Job("llama-3-8b", "tp1.pp1.dp8");
  job.model.name = "m\ntouch owned";
  job.notes = {"keys: x\ntouch owned\r\x1b[31m"};
  for (const ExportTarget target : {ExportTarget::kMegatron, ExportTarget::kTorchtitan}) {
    const std::string text = Export(target, job).value();
    EXPECT_THAT(text, Not(HasSubstr("\ntouch")));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, HasSubstr("# keys: x\\ntouch owned\\r\\x1b[31m\n"));
  }
}

TEST(ExportMegatron, WritesTheModel) {
  EXPECT_THAT(
      Megatron("qwen2.5-7b", "tp1.pp1.dp8"),
      AllOf(HasSubstr("--num-layers 28 --hidden-size 3584 --ffn-hidden-size 18944"),
            HasSubstr("--group-query-attention --num-query-groups 4"), HasSubstr("--add-qkv-bias"),
            HasSubstr("--rotary-base 1000000"), HasSubstr("--norm-epsilon 1e-06"),
            HasSubstr("--swiglu"), HasSubstr("--untie-embeddings-and-output-weights"),
            Not(HasSubstr("--qk-layernorm")), Not(HasSubstr("distributed-optimizer"))));
  ExportJob job = Job("llama-3.2-1b", "tp1.pp1.dp8");
  job.model.groups.front().attention.qk_norm = true;
  EXPECT_THAT(*Export(ExportTarget::kMegatron, job),
              AllOf(HasSubstr("--qk-layernorm"), Not(HasSubstr("--untie"))));
}

TEST(ExportMegatron, WritesHowTheRotaryEmbeddingIsScaled) {
  EXPECT_THAT(Megatron("llama-3.2-1b", "tp1.pp1.dp8"),
              HasSubstr("--rotary-base 500000 \\\n  --use-rope-scaling --rope-scaling-factor 32"));
  EXPECT_THAT(Megatron("llama-3-405b", "tp8.pp2.dp1.sp1"), HasSubstr("--rope-scaling-factor 8"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8"), Not(HasSubstr("scaling")));
  ExportJob job = Job("llama-3-8b", "tp1.pp1.dp8");
  job.model.rope_scaling = {.kind = RopeScalingKind::kLinear, .factor = 4.0};
  EXPECT_THAT(*Export(ExportTarget::kMegatron, job),
              HasSubstr("--rotary-seq-len-interpolation-factor 4"));
}

TEST(ExportMegatron, WritesTheSpreadOfTheFirstWeights) {
  ExportJob job = Job("llama-3-8b", "tp1.pp1.dp8");
  job.model.initializer_range = 0.006;
  EXPECT_THAT(*Export(ExportTarget::kMegatron, job), HasSubstr("--init-method-std 0.006"));
}

// The field that each framework names for a model that it can't train.
struct LackingModel {
  ExportTarget target;
  const char* field;
  void (*change)(ModelSpec&);
};

class ExportRefusesTheModel : public testing::TestWithParam<LackingModel> {};

TEST_P(ExportRefusesTheModel, NamingTheKeyOfItsConfig) {
  ExportJob job = Job("llama-3-8b", "tp1.pp1.dp8.zero3");
  job.model.rope_scaling = {.kind = RopeScalingKind::kLlama3, .factor = 8.0};
  ASSERT_TRUE(Export(GetParam().target, job).ok());
  GetParam().change(job.model);
  const auto text = Export(GetParam().target, job);
  EXPECT_EQ(FieldOf(text.status()), GetParam().field);
  EXPECT_THAT(std::string(text.status().message()), HasSubstr("must be"));
}

INSTANTIATE_TEST_SUITE_P(
    Each, ExportRefusesTheModel,
    testing::Values(
        LackingModel{ExportTarget::kMegatron, "rope_scaling.low_freq_factor",
                     [](ModelSpec& m) { m.rope_scaling.low_freq_factor = 2.0; }},
        LackingModel{ExportTarget::kMegatron, "rope_scaling.high_freq_factor",
                     [](ModelSpec& m) { m.rope_scaling.high_freq_factor = 8.0; }},
        LackingModel{ExportTarget::kMegatron, "rope_scaling.original_max_position_embeddings",
                     [](ModelSpec& m) { m.rope_scaling.original_max_positions = 4096; }},
        LackingModel{ExportTarget::kMegatron, "rope_scaling.factor",
                     [](ModelSpec& m) {
                       m.rope_scaling = {.kind = RopeScalingKind::kLinear, .factor = 2.5};
                     }},
        LackingModel{ExportTarget::kMegatron, "rope_theta",
                     [](ModelSpec& m) { m.rope_theta = 500000.5; }},
        LackingModel{ExportTarget::kTorchtitan, "rope_scaling.rope_type",
                     [](ModelSpec& m) { m.rope_scaling.kind = RopeScalingKind::kLinear; }},
        LackingModel{ExportTarget::kTorchtitan, "rope_scaling.rope_type",
                     [](ModelSpec& m) { m.groups.front().attention.qk_norm = true; }},
        LackingModel{ExportTarget::kTorchtitan, "tie_word_embeddings",
                     [](ModelSpec& m) { m.tied_embeddings = true; }},
        LackingModel{ExportTarget::kTorchtitan, "head_dim",
                     [](ModelSpec& m) { m.groups.front().attention.head_dim = 64; }}));

TEST(ExportMegatron, GivesEmbeddingAndLossAPlaceWhereLayersDoNotDivide) {
  EXPECT_THAT(Megatron("llama-3-405b", "tp8.pp16.dp1.sp1"),
              HasSubstr("--account-for-embedding-in-pipeline-split "
                        "--account-for-loss-in-pipeline-split"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp8.pp16.dp1.sp1"), Not(HasSubstr("--account-for")));
}

TEST(ExportMegatron, NamesStagesInItsPipelineLayout) {
  EXPECT_THAT(Megatron("llama-3-8b", "tp2.pp4.dp1.vpp4.sp1.stages=1+14x2+3"),
              AllOf(HasSubstr("--pipeline-model-parallel-layout 'Et|(tt|)*14tttL'"),
                    Not(HasSubstr("--num-virtual-stages")), Not(HasSubstr("--account-for"))));
  EXPECT_THAT(Megatron("llama-3-8b", "tp2.pp2.dp1.sp1.stages=15+17"),
              HasSubstr("'E" + std::string(15, 't') + "|" + std::string(17, 't') + "L'"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp2.pp2.dp1.vpp17.sp1.stages=0+32x1+0"),
              HasSubstr("'E|(t|)*32L'"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp2.pp4.dp1.sp1.stages=4x8"),
              HasSubstr("'Etttttttt|(tttttttt|)*2ttttttttL'"));
}

TEST(ExportMegatron, ShardsWithItsFsdpAboveZero1) {
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.zero3"),
              AllOf(HasSubstr("--use-megatron-fsdp --data-parallel-sharding-strategy "
                              "optim_grads_params"),
                    HasSubstr("--ckpt-format fsdp_dtensor"),
                    HasSubstr("unset CUDA_DEVICE_MAX_CONNECTIONS")));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.zero2"), HasSubstr(" optim_grads "));
}

TEST(ExportMegatron, HsdpHasInstancesOfTheOptimizer) {
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.cp2.pp1.dp8.zero1.hs=4"),
              AllOf(HasSubstr("--num-distributed-optimizer-instances 4"),
                    Not(HasSubstr("--outer-dp-sharding-strategy"))));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.zero3.hs=4"),
              AllOf(HasSubstr("--num-distributed-optimizer-instances 2"),
                    HasSubstr("--outer-dp-sharding-strategy no_shard")));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.zero1"), Not(HasSubstr("instances")));
}

TEST(Export, RefusesKeysThatItWouldDrop) {
  ExportJob job = Job("llama-3-8b", "tp1.pp1.dp8");
  job.model.set_aside = {{"final_logit_softcapping", "30"}};
  for (const ExportTarget target : {ExportTarget::kMegatron, ExportTarget::kTorchtitan}) {
    EXPECT_THAT(std::string(Export(target, job).status().message()),
                testing::StartsWith("final_logit_softcapping = 30: "));
  }
}

TEST(Export, RefusesFp64) {
  ExportJob job = Job("llama-3-8b", "tp1.pp1.dp8");
  job.training.precision = Precision::kFp64;
  for (const ExportTarget target : {ExportTarget::kMegatron, ExportTarget::kTorchtitan}) {
    EXPECT_THAT(std::string(Export(target, job).status().message()), HasSubstr("dtype = fp64"));
  }
}

TEST(ExportMegatron, WritesRecomputeAndKernels) {
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.rc=selective"),
              HasSubstr("--recompute-granularity selective \\\n"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.rc=full"),
              HasSubstr("--recompute-method uniform --recompute-num-layers 1"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.rc=block:5"),
              HasSubstr("--recompute-method block --recompute-num-layers 5"));
  EXPECT_THAT(Megatron("deepseek-v3", "tp1.pp1.dp8.ep8.zero1.rc=layernorm+mla_up_proj"),
              HasSubstr("--recompute-granularity selective --recompute-modules layernorm "
                        "mla_up_proj"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8"), HasSubstr("--attention-backend flash"));
  EXPECT_THAT(Megatron("llama-3-8b", "tp1.pp1.dp8.attn=eager.norm=eager"),
              AllOf(HasSubstr("--attention-backend unfused"), HasSubstr("# norm=eager")));
}

TEST(ExportMegatron, TakesPartOfANode) {
  EXPECT_THAT(Megatron("llama-3-8b", "tp2.pp1.dp2"), HasSubstr("--nnodes 1 --nproc-per-node 4"));
}

// 12 devices on nodes of 8: recommend ranks such layouts.
TEST(Export, StartsFewerProcessesOnALastNodeThatIsPartlyFilled) {
  EXPECT_THAT(Megatron("llama-3-8b", "tp2.pp1.dp4.cp1.mb1.zero3.sp1"),
              HasSubstr("torchrun --nnodes 1 --nproc-per-node 8 "));
  ExportJob job = Job("llama-3-8b", "tp2.pp1.dp6.zero3.sp1", 96);
  EXPECT_THAT(*Export(ExportTarget::kMegatron, job),
              HasSubstr("processes=8\nif [ \"${NODE_RANK:-0}\" -eq 1 ]; then processes=4; fi\n"
                        "torchrun --nnodes 2 --nproc-per-node \"$processes\" "));
  EXPECT_THAT(*Export(ExportTarget::kTorchtitan, job),
              HasSubstr("--nnodes 2 --nproc-per-node 8 -m torchtitan.train --module layout "
                        "--config train\n# The last node runs 4 processes.\n"));
  job.devices_per_node = 6;
  EXPECT_THAT(*Export(ExportTarget::kMegatron, job),
              HasSubstr("torchrun --nnodes 2 --nproc-per-node 6 "));
}

TEST(Export, WritesNotesAsComments) {
  ExportJob job = Job("llama-3-8b", "tp1.pp1.dp8.zero3");
  job.notes = {"keys that nobody knows: foo"};
  for (const ExportTarget target : {ExportTarget::kMegatron, ExportTarget::kTorchtitan}) {
    EXPECT_THAT(*Export(target, job), HasSubstr("\n# keys that nobody knows: foo\n"));
  }
}

TEST(ExportTorchtitan, LeavesMicroBatchesToThePipeline) {
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp2.pp2.dp4.mb2.zero3.sp1"),
              AllOf(HasSubstr("local_batch_size=16,\n            global_batch_size=64,"),
                    HasSubstr("pipeline_parallel_microbatch_size=2,"),
                    HasSubstr("disable_cuda_graphs=True,"),
                    HasSubstr("pipeline_parallel_layers_per_stage=16,\n"
                              "            pipeline_parallel_first_stage_less_layers=0,")));
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp2.pp1.dp4.mb2.zero3.sp1"),
              AllOf(HasSubstr("local_batch_size=2,"), Not(HasSubstr("schedule")),
                    Not(HasSubstr("cuda_graphs"))));
}

TEST(ExportTorchtitan, ShortensTheFirstAndTheLastStage) {
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp1.pp4.dp2.zero3.stages=7+2x9+7"),
              AllOf(HasSubstr("pipeline_parallel_layers_per_stage=9,"),
                    HasSubstr("pipeline_parallel_first_stage_less_layers=2,"),
                    HasSubstr("pipeline_parallel_last_stage_less_layers=2,")));
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp1.pp2.dp4.zero3.stages=15+17"),
              AllOf(HasSubstr("pipeline_parallel_layers_per_stage=17,"),
                    HasSubstr("pipeline_parallel_first_stage_less_layers=2,"),
                    HasSubstr("pipeline_parallel_last_stage_less_layers=0,")));
  const auto uneven =
      Export(ExportTarget::kTorchtitan, Job("llama-3-8b", "tp1.pp4.dp2.zero3.stages=8+7+9+8"));
  ASSERT_FALSE(uneven.ok());
  EXPECT_THAT(std::string(uneven.status().message()),
              HasSubstr("torchtitan's inner stages hold the same number of layers; must have at "
                        "most as many in the first and the last"));
}

TEST(ExportTorchtitan, NamesItsSchedules) {
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp1.pp2.dp4.zero3.sched=gpipe"), HasSubstr("\"GPipe\""));
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp1.pp2.dp4.vpp2.zero3"), HasSubstr("\"Interleaved1F1B\""));
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp1.pp2.dp4.vpp2.zero3.sched=zb_v"),
              AllOf(HasSubstr("\"ZBVZeroBubble\""), HasSubstr("enable=False")));
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp1.pp2.dp4.vpp4.zero3.sched=breadth_first"),
              AllOf(HasSubstr("\"LoopedBFS\""), HasSubstr("# sched=breadth_first")));
}

TEST(ExportTorchtitan, ShardsOrReplicates) {
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp1.pp1.dp8"),
              AllOf(HasSubstr("data_parallel_replicate_degree=8,"),
                    HasSubstr("data_parallel_shard_degree=1,")));
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp1.cp2.pp1.dp8.zero3.hs=8"),
              AllOf(HasSubstr("data_parallel_replicate_degree=2,"),
                    HasSubstr("data_parallel_shard_degree=4,")));
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp1.pp1.dp8.zero2"),
              AllOf(HasSubstr("data_parallel_shard_degree=8,"), HasSubstr("\"never\"")));
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp2.pp1.dp1.sp1"), HasSubstr("trains in fp32"));
}

TEST(ExportTorchtitan, RefusesExpertsByName) {
  EXPECT_THAT(Torchtitan("mixtral-8x7b", "tp1.pp1.dp8.zero3.ep8"),
              HasSubstr("num_local_experts = 8: torchtitan has no setting for it (experts); export "
                        "--to megatron may work, and estimate and recommend plan it"));
}

TEST(ExportTorchtitan, SaysWhichFlavorIsMissing) {
  EXPECT_THAT(Torchtitan("llama-2-7b", "tp1.pp1.dp8.zero3"),
              AllOf(HasSubstr("# torchtitan has no flavor of this model; add one: dim 4096"),
                    HasSubstr("rope_scaling_args with scaling_factor 1,"),
                    HasSubstr("model_registry(\"custom\")")));
}

// torchtitan's Llama 3 flavors are Llama 3.1, whose rotary embedding is scaled.
TEST(ExportTorchtitan, TakesAFlavorOnlyForTheModelThatItIs) {
  EXPECT_THAT(Torchtitan("llama-3-405b", "tp8.pp2.dp2.zero3.sp1"),
              HasSubstr("model_registry(\"405B\")"));
  EXPECT_THAT(Torchtitan("llama-3-8b", "tp1.pp1.dp8.zero3"),
              HasSubstr("model_registry(\"custom\")"));
  ExportJob job = Job("llama-3-8b", "tp1.pp1.dp8.zero3");
  job.model.rope_scaling = {.kind = RopeScalingKind::kLlama3, .factor = 8.0};
  EXPECT_THAT(*Export(ExportTarget::kTorchtitan, job), HasSubstr("model_registry(\"8B\")"));
  job.model.rope_scaling.factor = 32.0;
  EXPECT_THAT(*Export(ExportTarget::kTorchtitan, job), HasSubstr("scaling_factor 32,"));
}

std::string Exported(ExportTarget target, const char* layout) {
  return Export(target, Job("llama-3-8b", layout)).value();
}

// Each of these was refused by the framework's own parser.
TEST(Export, SaysWhatAFrameworkAsksForBesideALayout) {
  ExportJob job = Job("llama-3-8b", "tp1.pp1.dp8.zero1");
  job.training.options.cuda_graphs = CudaGraphs::kIteration;
  EXPECT_THAT(Export(ExportTarget::kMegatron, job).value(),
              HasSubstr("full_iteration --no-check-for-nan-in-loss-and-grad"));
  EXPECT_THAT(Exported(ExportTarget::kLlamaFactory, "tp2.pp1.dp4.zero0"),
              AllOf(HasSubstr("train_micro_batch_size_per_gpu: auto"), HasSubstr("stage: 0")));
  EXPECT_THAT(Exported(ExportTarget::kLlamaFactory, "tp1.pp1.dp8.zero0"),
              Not(HasSubstr("deepspeed:")));
  EXPECT_THAT(Exported(ExportTarget::kAxolotl, "tp1.cp2.pp1.dp4.zero3"),
              HasSubstr("attn_implementation: flash_attention_2"));
}

TEST(ExportNanotron, NamesKeysOfItsMainBranchOnlyWhereTheLayoutNeedsThem) {
  EXPECT_THAT(Exported(ExportTarget::kNanotron, "tp1.pp1.dp8.zero1"),
              AllOf(Not(HasSubstr("context_parallel_size")), Not(HasSubstr("main branch"))));
  EXPECT_THAT(Exported(ExportTarget::kNanotron, "tp1.cp2.pp1.dp4.zero1"),
              AllOf(HasSubstr("context_parallel_size: 2"),
                    HasSubstr("context_parallel_size needs nanotron's main branch after 0.4")));
}

TEST(ExportAxolotl, FusesNoLossBesideTensorParallelism) {
  ExportJob job = Job("llama-3-8b", "tp2.pp1.dp4.zero3");
  job.training.options.loss_chunks = 0;
  EXPECT_EQ(FieldOf(Export(ExportTarget::kAxolotl, job).status()), "loss");
}

std::string WithOptimizer(ExportTarget target, const char* optimizer, const char* layout) {
  ExportJob job = Job("llama-3-8b", layout);
  job.training.optimizer = ParseOptimizer(optimizer).value();
  const absl::StatusOr<std::string> text = Export(target, job);
  return text.ok() ? *text : std::string(text.status().message());
}

TEST(ExportOptimizer, IsWrittenInTheWordsOfTheFramework) {
  EXPECT_THAT(WithOptimizer(ExportTarget::kMegatron, "muon", "tp2.pp1.dp4.zero1"),
              HasSubstr("--optimizer muon"));
  EXPECT_THAT(WithOptimizer(ExportTarget::kMegatron, "adamw", "tp2.pp1.dp4.zero1"),
              Not(HasSubstr("--optimizer ")));
  EXPECT_THAT(WithOptimizer(ExportTarget::kMegatronBridge, "sgd", "tp2.pp1.dp4.zero1"),
              HasSubstr("optimizer.optimizer=sgd"));
  EXPECT_THAT(WithOptimizer(ExportTarget::kAccelerate, "paged-adamw", "tp1.pp1.dp8.zero3"),
              HasSubstr("--optim paged_adamw_32bit"));
  EXPECT_THAT(WithOptimizer(ExportTarget::kLlamaFactory, "adafactor", "tp1.pp1.dp8.zero3"),
              HasSubstr("optim: adafactor"));
}

TEST(ExportOptimizer, IsRefusedIfTheExportCannotSayIt) {
  EXPECT_EQ(WithOptimizer(ExportTarget::kTorchtitan, "muon", "tp1.pp1.dp8.zero3"),
            "optimizer = muon: is not written by the export to torchtitan; must be adamw");
  EXPECT_THAT(WithOptimizer(ExportTarget::kAccelerate, "muon", "tp1.pp1.dp8.zero3"),
              HasSubstr("optimizer = muon"));
}

TEST(ExportAttention, NamesPyTorchsAndTheNewestKernels) {
  EXPECT_THAT(Exported(ExportTarget::kAccelerate, "tp1.pp1.dp8.zero3.attn=sdpa"),
              HasSubstr("--attn_implementation sdpa"));
  EXPECT_THAT(Exported(ExportTarget::kAccelerate, "tp1.pp1.dp8.zero3.attn=flash4"),
              HasSubstr("--attn_implementation flash_attention_4"));
  EXPECT_THAT(Exported(ExportTarget::kLlamaFactory, "tp1.pp1.dp8.zero3.attn=sdpa"),
              HasSubstr("flash_attn: sdpa"));
}

struct RefusedExport {
  ExportTarget target;
  const char* model;
  const char* layout;
  const char* sentence;
};

class ExportRefuses : public testing::TestWithParam<RefusedExport> {};

TEST_P(ExportRefuses, NamingThePartAndWhatWouldBeAccepted) {
  const RefusedExport& refused = GetParam();
  const auto text = Export(refused.target, Job(refused.model, refused.layout));
  ASSERT_EQ(text.status().code(), absl::StatusCode::kInvalidArgument) << refused.layout;
  EXPECT_THAT(std::string(text.status().message()), HasSubstr(refused.sentence));
  EXPECT_FALSE(FieldOf(text.status()).empty());
}

constexpr auto kMegatron = ExportTarget::kMegatron;
constexpr auto kTorchtitan = ExportTarget::kTorchtitan;

INSTANTIATE_TEST_SUITE_P(
    Each, ExportRefuses,
    testing::Values(
        RefusedExport{kMegatron, "llama-3-8b", "tp1.pp2.dp4.vpp2.sched=zb_v",
                      "layout = sched=zb_v: Megatron-LM does not have this schedule; must be 1f1b"},
        RefusedExport{kMegatron, "llama-3-8b", "tp1.pp2.dp4.vpp2.sched=breadth_first",
                      "must be 1f1b"},
        RefusedExport{kMegatron, "llama-3-8b", "tp1.pp2.dp4.sched=gpipe", "must be 1f1b"},
        RefusedExport{kMegatron, "llama-3-8b", "tp1.pp2.dp4.attn=sdpa", "attn"},
        RefusedExport{ExportTarget::kMegatronBridge, "llama-3-8b", "tp1.pp2.dp4.attn=flash4",
                      "Transformer Engine takes the newest flash-attn that is installed; must be "
                      "left out"},
        RefusedExport{kMegatron, "llama-3-8b", "tp1.pp2.dp4.zero3",
                      "does not combine ZeRO 2 and 3"},
        RefusedExport{kMegatron, "llama-3-8b", "tp1.pp3.dp1", "32 layers can't be divided"},
        RefusedExport{kMegatron, "llama-3-8b", "tp1.pp1.dp3", "global batch 64 is not a multiple"},
        RefusedExport{kMegatron, "llama-3-8b", "tp4.pp1.dp4.cp1.mb1.vpp1.sp1.zero0.rc=block:99",
                      "recomputes more layers"},
        RefusedExport{kTorchtitan, "llama-3-8b", "tp1.pp1.dp8.zero1", "layout = zero1"},
        RefusedExport{kTorchtitan, "llama-3-8b", "tp2.pp1.dp4.sp1", "must be zero2 or zero3"},
        RefusedExport{kTorchtitan, "llama-3-8b", "tp1.cp2.pp1.dp4", "context-parallel"},
        RefusedExport{kTorchtitan, "llama-3-8b", "tp2.pp1.dp4.zero3", "must be sp1"},
        RefusedExport{
            kTorchtitan, "llama-3-8b", "tp1.pp1.dp8.zero3.rc=block:2",
            "layout = rc=block:2: torchtitan recomputes all layers alike and picks operators "
            "itself; "
            "must be none"},
        RefusedExport{kTorchtitan, "llama-3-8b", "tp1.pp2.dp4.zero3.sched=zb_h1", "zb_v"},
        RefusedExport{kTorchtitan, "qwen2.5-7b", "tp1.pp1.dp8.zero3",
                      "model_type = qwen2: torchtitan has no setting for it (qkv bias)"},
        RefusedExport{ExportTarget::kAxolotl, "llama-3-8b", "tp2.pp1.dp4.zero3.norm=fused",
                      "without tensor parallelism"},
        RefusedExport{ExportTarget::kAxolotl, "llama-3-8b", "tp1.cp2.pp1.dp4.zero3.attn=eager",
                      "must be flash2"},
        RefusedExport{ExportTarget::kAccelerate, "llama-3-8b", "tp1.cp2.pp1.dp4.zero3.attn=flash2",
                      "calls PyTorch's attention; must be sdpa or left out"},
        RefusedExport{ExportTarget::kDeepspeed, "llama-3-8b", "tp1.pp1.dp8.zero0.offload=opt",
                      "DeepSpeed offloads only what ZeRO shards"}));

TEST(ExportRefusal, NamesNodesWithoutDevices) {
  ExportJob job = Job("llama-3-8b", "tp4.pp1.dp4.sp1.zero3");
  job.devices_per_node = 0;
  EXPECT_EQ(FieldOf(Export(ExportTarget::kMegatron, job).status()), "gpus_per_node");
}

TEST(ExportTargetNames, RoundTrip) {
  EXPECT_EQ(*ParseExportTarget("torchtitan"), ExportTarget::kTorchtitan);
  EXPECT_EQ(*ParseExportTarget("deepspeed"), ExportTarget::kDeepspeed);
  EXPECT_EQ(FieldOf(ParseExportTarget("alpa").status()), "to");
}

}  // namespace
}  // namespace meshwright::planner

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "planner/interchange/import.h"
#include "tests/planner/interchange/imports.h"

namespace meshwright::planner {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// NVIDIA/Megatron-LM, examples/gpt3/train_gpt3_175b_distributed.sh: its options that a layout or a
// request has, and some that they have not.
constexpr char kGpt3[] = R"(#!/bin/bash
GPUS_PER_NODE=8
MASTER_ADDR=localhost
NUM_NODES=1
WORLD_SIZE=$(($GPUS_PER_NODE*$NUM_NODES))
DATA_PATH=$5
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
    --master_addr $MASTER_ADDR
)
GPT_MODEL_ARGS=(
    --num-layers 96
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --attention-backend auto # or another
)
TRAINING_ARGS=(
    --micro-batch-size 1
    --global-batch-size 1536
    --step-batch-size-schedule "0:16 2.4B:320"
    --train-iters 500000
    --adam-beta1 0.9
    --init-method-std 0.006
    --fp16
    --lr 6.0e-5
)
MODEL_PARALLEL_ARGS=(
	--tensor-model-parallel-size 8
	--pipeline-model-parallel-size 16
)
DATA_ARGS=(--data-path $DATA_PATH --split 949,50,1)
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py \
    ${GPT_MODEL_ARGS[@]} \
    ${TRAINING_ARGS[@]} \
    ${MODEL_PARALLEL_ARGS[@]} \
    ${DATA_ARGS[@]}
)";

TEST(ImportMegatron, ReadsThePublishedGpt3OnTheDevicesThatAreSaid) {
  EXPECT_THAT(LayoutOf(From("megatron", kGpt3)),
              HasSubstr("8 devices are not a multiple of tp * cp * pp = 128; --gpus N"));
  const Imported imported = From("megatron", kGpt3, {.devices = 1024});
  EXPECT_EQ(LayoutOf(imported), "tp8.cp1.pp16.dp8.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b");
  EXPECT_EQ(imported.dtype, "fp16");
  EXPECT_EQ(imported.global_batch, 1536);
  EXPECT_EQ(imported.seq_len, 2048);
  EXPECT_THAT(Rejected(imported), ElementsAre("--step-batch-size-schedule"));
  EXPECT_EQ(HintOf(imported, "--lr"), "the learning rate");
  EXPECT_THAT(Named(imported, EntryStatus::kUsed), Contains("--attention-backend"));
}

// NVIDIA/Megatron-LM, examples/llama/train_llama3_8b_h100_fp8.sh.
constexpr char kLlama3[] = R"(#!/bin/bash
DATA_ARG=${4:-"MOCK"}
GPUS_PER_NODE=8
NUM_NODES=1
NODE_RANK=${NODE_RANK:-0}
PRETRAIN_SCRIPT_PATH="pretrain_gpt.py"
TP_SIZE=1
CP_SIZE=1
PP_SIZE=1
MICRO_BATCH_SIZE=1
GLOBAL_BATCH_SIZE=128
NUM_LAYERS=32
DTYPE="fp8"
SEQ_LENGTH=8192
DISTRIBUTED_ARGS=(
    --nproc_per_node $GPUS_PER_NODE
    --nnodes $NUM_NODES
    --node_rank $NODE_RANK
)
MODEL_ARGS=(
    --use-mcore-models
    --num-layers $NUM_LAYERS
    --hidden-size 4096
    --ffn-hidden-size 14336
    --num-attention-heads 32
    --group-query-attention
    --num-query-groups 8
    --kv-channels 128
    --seq-length $SEQ_LENGTH
    --rotary-base 1000000
    --attention-dropout 0.0
    --hidden-dropout 0.0
    --swiglu
    --attention-backend fused
    --apply-layernorm-1p
    --untie-embeddings-and-output-weights
    --disable-bias-linear
)
TRAINING_ARGS=(
    --micro-batch-size $MICRO_BATCH_SIZE
    --global-batch-size $GLOBAL_BATCH_SIZE
    --train-samples 1953125000
    --decoupled-lr 5.0e-4      # a comment
    --bf16
    --grad-reduce-in-bf16
    --cross-entropy-loss-fusion
    --calculate-per-token-loss
    --manual-gc
    --empty-unused-memory-level 1
)
DTYPE_ARGS=()
if [[ "$DTYPE" == "fp8" ]]; then
    DTYPE_ARGS+=(
        "--fp8-format hybrid"
        "--fp8-amax-history-len 1024"
        "--fp8-param-gather"
    )
fi
MODEL_PARALLEL_ARGS=(
    --tensor-model-parallel-size $TP_SIZE
    --context-parallel-size $CP_SIZE
    # --pipeline-model-parallel-size $PP_SIZE
    --sequence-parallel
)
DDP_ARGS=(
    --use-distributed-optimizer
    --overlap-grad-reduce
    --overlap-param-gather
)
TRAINING_ARGS+=("${DDP_ARGS[@]}")
DATA_ARGS_LIST=()
if [[ "$DATA_ARG" == "MOCK" ]] || [[ -z "$DATA_ARG" ]]; then
    DATA_ARGS_LIST+=("--mock-data" "--vocab-size 128256")
else
    DATA_ARGS_LIST+=("--data-path $DATA_ARG")
fi
if [ ! -f "$PRETRAIN_SCRIPT_PATH" ]; then
    exit 1
fi
torchrun ${DISTRIBUTED_ARGS[@]} \
    "$PRETRAIN_SCRIPT_PATH" \
    ${MODEL_ARGS[@]} \
    ${TRAINING_ARGS[@]} \
    ${DTYPE_ARGS[@]} \
    ${MODEL_PARALLEL_ARGS[@]} \
    ${DATA_ARGS_LIST[@]}
set +x
)";

TEST(ImportMegatron, ReadsThePublishedLlama3) {
  const Imported imported = From("megatron", kLlama3);
  EXPECT_EQ(LayoutOf(imported), "tp1.cp1.pp1.dp8.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b.attn=cudnn");
  EXPECT_EQ(imported.dtype, "fp8-delayed");
  EXPECT_THAT(imported.model, HasSubstr("llama-3"));
  EXPECT_THAT(imported.options, ElementsAre(testing::Pair("states", "bf16-grads")));
  EXPECT_THAT(Rejected(imported), ElementsAre("--fp8-param-gather"));
}

// NVIDIA/Megatron-LM, examples/mixtral/train_mixtral_8x7b_distributed.sh.
constexpr char kMixtral[] = R"(
GPUS_PER_NODE=8
NNODES=${SLURM_NNODES:-"1"}
DISTRIBUTED_ARGS=(--nproc_per_node $GPUS_PER_NODE --nnodes $NNODES)
MODEL_ARGS=(
    --use-mcore-models --disable-bias-linear --seq-length 4096 --max-position-embeddings 32768
    --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32
    --attention-dropout 0.0 --hidden-dropout 0.0 --group-query-attention --num-query-groups 8
    --no-masked-softmax-fusion --no-position-embedding
)
MOE_ARGS=(
    --num-experts 8 --moe-router-topk 2 --moe-router-load-balancing-type aux_loss
    --moe-aux-loss-coeff 1e-2 --moe-grouped-gemm --moe-token-dispatcher-type alltoall
    --overlap-param-gather --overlap-grad-reduce
)
TRAINING_ARGS=(--micro-batch-size 1 --global-batch-size 256 --lr 1e-4 --bf16)
MODEL_PARALLEL_ARGS=(
    --tensor-model-parallel-size 1
    --pipeline-model-parallel-size 4
    --expert-model-parallel-size 8
    --use-distributed-optimizer
    --sequence-parallel
)
LOGGING_ARGS=(--log-interval 1 \
    --save-interval 10000)
if [ -n "${WANDB_API_KEY}" ]; then
    LOGGING_ARGS+=(--wandb-project ${WANDB_PROJECT:-"Mixtral"})
fi
torchrun ${DISTRIBUTED_ARGS[@]} pretrain_gpt.py ${MODEL_ARGS[@]} ${MOE_ARGS[@]} \
    ${TRAINING_ARGS[@]} ${MODEL_PARALLEL_ARGS[@]} ${LOGGING_ARGS[@]}
)";

TEST(ImportMegatron, ReadsThePublishedMixtral) {
  const Imported imported = From("megatron", kMixtral, {.devices = 64});
  EXPECT_EQ(LayoutOf(imported), "tp1.cp1.pp4.dp16.ep8.etp1.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b");
  EXPECT_EQ(imported.model, "mixtral-8x7b");
  EXPECT_THAT(Rejected(imported), IsEmpty());
  EXPECT_EQ(HintOf(imported, "--nnodes"), "overridden by --gpus");
  EXPECT_TRUE(imported.complete());
}

// NVIDIA/Megatron-LM, examples/megatron_fsdp/train_llama3_8b_fsdp_h100_fp8.sh.
TEST(ImportMegatron, ReadsThePublishedFsdp) {
  const Imported imported = From("megatron", R"(#!/bin/bash
GPUS_PER_NODE=8
USE_MEGATRON_FSDP=${USE_MEGATRON_FSDP:-1}
SHARDING_STRATEGY=${SHARDING_STRATEGY:-"optim_grads_params"}
TRAINING_ARGS=(--micro-batch-size 1 --global-batch-size 128 --bf16)
if [ "${USE_MEGATRON_FSDP}" = 1 ]; then
    unset CUDA_DEVICE_MAX_CONNECTIONS
    TRAINING_ARGS=(
        "${TRAINING_ARGS[@]}"
        --use-megatron-fsdp
        --data-parallel-sharding-strategy ${SHARDING_STRATEGY}
        --no-gradient-accumulation-fusion
        --init-model-with-meta-device
        --ckpt-format fsdp_dtensor
        --use-nccl-ub
        --fsdp-double-buffer
        # --num-distributed-optimizer-instances 2
    )
fi
TRAINING_ARGS+=(--use-distributed-optimizer --overlap-grad-reduce)
$VENV_PREFIX "${PROFILE_CMD[@]}" python -m torch.distributed.run --nproc_per_node $GPUS_PER_NODE \
    pretrain_gpt.py --seq-length 8192 ${TRAINING_ARGS[@]}
)");
  EXPECT_EQ(LayoutOf(imported), "tp1.cp1.pp1.dp8.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b");
  EXPECT_THAT(Rejected(imported),
              UnorderedElementsAre("$PROFILE_CMD", "--use-nccl-ub", "--fsdp-double-buffer"));
}

TEST(ImportMegatron, CountsTheStagesOfAHybridsPattern) {
  const auto layout = [](const char* pattern) {
    return LayoutOf(From("megatron", MegatronLine(std::string("--pipeline-model-parallel-size 2 ") +
                                                  "--hybrid-layer-pattern '" + pattern + "'")));
  };
  EXPECT_THAT(layout("ME*E|ME*E|MEME|MEME/*E"), HasSubstr("pp2.dp8.mb1.vpp2."));
  EXPECT_THAT(layout("ME*EME*E"), HasSubstr("pp2.dp8.mb1.vpp1."));
  for (const char* pattern : {"ME*E|ME", "ME|ME|ME", "MXE"}) {
    EXPECT_THAT(
        Rejected(From("megatron", MegatronLine(std::string("--pipeline-model-parallel-size 2 ") +
                                               "--hybrid-override-pattern '" + pattern + "'"))),
        ElementsAre("--hybrid-override-pattern"))
        << pattern;
  }
}

TEST(ImportMegatron, CountsChunksByTheirLayers) {
  const std::string flags =
      "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 2 --num-layers ";
  EXPECT_THAT(LayoutOf(From("megatron", MegatronLine(flags + "32"))),
              HasSubstr("pp4.dp4.mb1.vpp4.zero0.sp0.rc=none.sched=interleaved"));
  const Imported odd = From("megatron", MegatronLine(flags + "30"));
  EXPECT_THAT(HintOf(odd, "--num-layers-per-virtual-pipeline-stage"),
              HasSubstr("must divide the 30 layers"));
}

TEST(ImportMegatron, ReadsItsNotationOfStages) {
  EXPECT_THAT(LayoutOf(From("megatron",
                            MegatronLine("--pipeline-model-parallel-size 2 "
                                         "--pipeline-model-parallel-layout 'Et*3|(tt|)*2tttL'"))),
              HasSubstr("pp2.dp8.mb1.vpp2.zero0.sp0.rc=none.sched=interleaved.stages=3+2x2+3"));
  const Imported wrong = From("megatron", MegatronLine("--pipeline-model-parallel-layout 'Et|xL'"));
  EXPECT_THAT(Rejected(wrong), ElementsAre("--pipeline-model-parallel-layout"));
}

TEST(ImportMegatron, ReadsRecomputeInAllItsWords) {
  const auto rc = [](const char* flags) { return LayoutOf(From("megatron", MegatronLine(flags))); };
  EXPECT_THAT(rc("--recompute-activations"), HasSubstr("rc=selective"));
  EXPECT_THAT(rc("--recompute-granularity selective --recompute-modules layernorm moe_act"),
              HasSubstr("rc=layernorm+moe_act"));
  EXPECT_THAT(rc("--recompute-granularity full --recompute-method block --recompute-num-layers 5"),
              HasSubstr("rc=block:5"));
  const Imported uniform = From("megatron", MegatronLine("--recompute-granularity full "
                                                         "--recompute-method uniform "
                                                         "--recompute-num-layers 4"));
  EXPECT_THAT(Rejected(uniform), ElementsAre("--recompute-num-layers"));
}

TEST(ImportMegatron, ExpertTensorParallelFollowsTpUnlessItIsSaid) {
  const std::string experts =
      "--tensor-model-parallel-size 2 --num-experts 8 "
      "--expert-model-parallel-size 4";
  EXPECT_THAT(LayoutOf(From("megatron", MegatronLine(experts))), HasSubstr("ep4.etp2."));
  EXPECT_THAT(
      LayoutOf(From("megatron", MegatronLine(experts + " --expert-tensor-parallel-size 1"))),
      HasSubstr("ep4.etp1."));
}

// --- Megatron-Bridge: NVIDIA-NeMo/Megatron-Bridge, examples/models/gpt_oss/slurm_pretrain.sh, one
// of its configurations.
TEST(ImportBridge, ReadsOverridesAndAsksForWhatTheRecipeSays) {
  const std::string overrides =
      "torchrun --nproc_per_node=8 --nnodes=4 scripts/training/run_recipe.py "
      "--recipe gpt_oss_20b_pretrain_config model.seq_length=4096 train.train_iters=1000 "
      "train.global_batch_size=128 train.micro_batch_size=1 scheduler.lr_warmup_iters=50 "
      "checkpoint.save=/results logger.log_interval=1 dataset.seq_length=4096 "
      "model.tensor_model_parallel_size=2 model.pipeline_model_parallel_size=4 "
      "model.expert_model_parallel_size=4 model.sequence_parallel=True "
      "model.context_parallel_size=1";
  const Imported asks = From("megatron-bridge", overrides);
  EXPECT_FALSE(asks.layout);
  EXPECT_THAT(asks.missing,
              Contains(HasSubstr("--set model.virtual_pipeline_model_parallel_size=VALUE")));
  const Imported imported =
      From("megatron-bridge", overrides,
           {.further = {{"model.virtual_pipeline_model_parallel_size", "null"},
                        {"ddp.use_distributed_optimizer", "true"},
                        {"dist.use_megatron_fsdp", "false"},
                        {"model.recompute_granularity", "null"}},
            .model = "gpt-oss-20b"});
  EXPECT_EQ(LayoutOf(imported), "tp2.cp1.pp4.dp4.ep4.etp2.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b");
  EXPECT_THAT(Rejected(imported), IsEmpty());
}

}  // namespace
}  // namespace meshwright::planner

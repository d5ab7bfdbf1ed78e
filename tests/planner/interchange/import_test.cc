#include "planner/interchange/import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace meshwright::planner {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Imported From(const char* framework, const std::string& text, ImportQuestion question = {}) {
  question.files.insert(question.files.begin(), {"file", text});
  const auto imported = Import(**FindFramework("from", framework), question);
  EXPECT_TRUE(imported.ok()) << imported.status();
  return imported.ok() ? *imported : Imported();
}

std::string LayoutOf(const Imported& imported) {
  return imported.layout ? FormatLayout(*imported.layout)
                         : "none: " + (imported.missing.empty() ? "" : imported.missing.front());
}

std::vector<std::string> Named(const Imported& imported, EntryStatus status) {
  std::vector<std::string> names;
  for (const ImportedEntry& entry : imported.entries) {
    if (entry.status == status) names.push_back(entry.name);
  }
  return names;
}

std::vector<std::string> Rejected(const Imported& imported) {
  return Named(imported, EntryStatus::kRejected);
}

std::string HintOf(const Imported& imported, const std::string& name) {
  for (const ImportedEntry& entry : imported.entries) {
    if (entry.name == name) return entry.hint;
  }
  return "no such entry";
}

// --- Megatron-LM.

std::string Megatron(const std::string& flags) {
  return "torchrun --nnodes 2 --nproc-per-node 8 pretrain_gpt.py --micro-batch-size 1 "
         "--global-batch-size 64 --seq-length 4096 --bf16 " +
         flags;
}

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
              HasSubstr("8 devices can't be divided by tp * cp * pp, 128; --gpus N"));
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
  EXPECT_EQ(HintOf(imported, "--nnodes"), "--gpus says it");
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

TEST(ImportMegatron, CountsChunksByTheirLayers) {
  const std::string flags =
      "--pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 2 --num-layers ";
  EXPECT_THAT(LayoutOf(From("megatron", Megatron(flags + "32"))),
              HasSubstr("pp4.dp4.mb1.vpp4.zero0.sp0.rc=none.sched=interleaved"));
  const Imported odd = From("megatron", Megatron(flags + "30"));
  EXPECT_THAT(HintOf(odd, "--num-layers-per-virtual-pipeline-stage"),
              HasSubstr("must divide the 30 layers"));
}

TEST(ImportMegatron, ReadsItsNotationOfStages) {
  EXPECT_THAT(
      LayoutOf(From("megatron", Megatron("--pipeline-model-parallel-size 2 "
                                         "--pipeline-model-parallel-layout 'Et*3|(tt|)*2tttL'"))),
      HasSubstr("pp2.dp8.mb1.vpp2.zero0.sp0.rc=none.sched=interleaved.stages=3+2x2+3"));
  const Imported wrong = From("megatron", Megatron("--pipeline-model-parallel-layout 'Et|xL'"));
  EXPECT_THAT(Rejected(wrong), ElementsAre("--pipeline-model-parallel-layout"));
}

TEST(ImportMegatron, ReadsRecomputeInAllItsWords) {
  const auto rc = [](const char* flags) { return LayoutOf(From("megatron", Megatron(flags))); };
  EXPECT_THAT(rc("--recompute-activations"), HasSubstr("rc=selective"));
  EXPECT_THAT(rc("--recompute-granularity selective --recompute-modules layernorm moe_act"),
              HasSubstr("rc=layernorm+moe_act"));
  EXPECT_THAT(rc("--recompute-granularity full --recompute-method block --recompute-num-layers 5"),
              HasSubstr("rc=block:5"));
  const Imported uniform = From("megatron", Megatron("--recompute-granularity full "
                                                     "--recompute-method uniform "
                                                     "--recompute-num-layers 4"));
  EXPECT_THAT(Rejected(uniform), ElementsAre("--recompute-num-layers"));
}

TEST(ImportMegatron, ExpertTensorParallelFollowsTpUnlessItIsSaid) {
  const std::string experts =
      "--tensor-model-parallel-size 2 --num-experts 8 "
      "--expert-model-parallel-size 4";
  EXPECT_THAT(LayoutOf(From("megatron", Megatron(experts))), HasSubstr("ep4.etp2."));
  EXPECT_THAT(LayoutOf(From("megatron", Megatron(experts + " --expert-tensor-parallel-size 1"))),
              HasSubstr("ep4.etp1."));
}

TEST(Import, RejectsNamesThatItDoesNotKnow) {
  const Imported imported = From("megatron", Megatron("--brand-new-kernel --hidden-dropout 0.1"));
  EXPECT_THAT(Rejected(imported), UnorderedElementsAre("--brand-new-kernel", "--hidden-dropout"));
  EXPECT_FALSE(imported.complete());
}

TEST(Import, TheLastValueOfANameCounts) {
  const Imported imported = From("megatron", Megatron("--tensor-model-parallel-size 2 "
                                                      "--tensor-model-parallel-size 4"));
  EXPECT_THAT(LayoutOf(imported), HasSubstr("tp4.cp1.pp1.dp4"));
  EXPECT_THAT(HintOf(imported, "--tensor-model-parallel-size"), "a later value replaces it");
}

TEST(Import, RejectsWhatContradicts) {
  const Imported imported = From("megatron", Megatron("--fp16"));
  EXPECT_THAT(HintOf(imported, "--fp16"), "contradicts --bf16");
}

TEST(Import, AsksForVariablesAndTakesThem) {
  const std::string script = Megatron("--tensor-model-parallel-size $TP --data-path $DATA");
  const Imported asks = From("megatron", script);
  EXPECT_THAT(HintOf(asks, "--tensor-model-parallel-size"), HasSubstr("--env TP=VALUE gives it"));
  EXPECT_THAT(Rejected(asks), ElementsAre("--tensor-model-parallel-size"));
  EXPECT_THAT(LayoutOf(From("megatron", script, {.environment = {{"TP", "2"}}})),
              HasSubstr("tp2."));
}

TEST(Import, ChecksTheBatch) {
  const Imported imported = From("megatron", Megatron("--micro-batch-size 3"));
  EXPECT_THAT(HintOf(imported, "--global-batch-size"), HasSubstr("must be a multiple of 3 * 16"));
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

// --- accelerate: huggingface/accelerate, examples/torch_native_parallelism/configs/tp_hsdp.yaml.
constexpr char kTpHsdp[] = R"(compute_environment: LOCAL_MACHINE
debug: false
distributed_type: FSDP
downcast_bf16: 'no'
enable_cpu_affinity: false
fsdp_config:
  fsdp_activation_checkpointing: false
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_cpu_ram_efficient_loading: false
  fsdp_offload_params: false
  fsdp_reshard_after_forward: true
  fsdp_state_dict_type: SHARDED_STATE_DICT
  fsdp_version: 2
machine_rank: 0
main_training_function: main
mixed_precision: bf16
num_machines: 1
num_processes: 8
parallelism_config:
  parallelism_config_cp_size: 1
  parallelism_config_dp_replicate_size: 2
  parallelism_config_dp_shard_size: 2
  parallelism_config_tp_size: 2
rdzv_backend: static
same_network: true
tpu_env: []
tpu_use_cluster: false
tpu_use_sudo: false
use_cpu: false
)";

TEST(ImportAccelerate, ReadsThePublishedHsdpWithTheTrainersArguments) {
  const Imported asks = From("accelerate", kTpHsdp);
  EXPECT_THAT(asks.missing, Contains(HasSubstr("--set per_device_train_batch_size=VALUE")));
  const Imported imported =
      From("accelerate", kTpHsdp,
           {.files = {{"run.sh",
                       "accelerate launch --config_file tp_hsdp.yaml nd_parallel_trainer.py "
                       "--per_device_train_batch_size 1 --bf16 true --learning_rate 5e-5"}},
            .seq_len = 4096});
  EXPECT_EQ(LayoutOf(imported), "tp2.cp1.pp1.dp4.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b.hs=2");
  EXPECT_EQ(imported.global_batch, 4);
  EXPECT_THAT(Rejected(imported), IsEmpty());
}

// huggingface/accelerate, examples/torch_native_parallelism/configs/cp.yaml.
TEST(ImportAccelerate, ReadsThePublishedContextParallel) {
  const Imported imported = From("accelerate", R"(distributed_type: FSDP
fsdp_config:
  fsdp_activation_checkpointing: true
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_reshard_after_forward: true
  fsdp_version: 2
mixed_precision: bf16
num_machines: 1
num_processes: 8
parallelism_config:
  parallelism_config_cp_size: 8
  parallelism_config_dp_replicate_size: 1
  parallelism_config_dp_shard_size: 1
  parallelism_config_tp_size: 1
)",
                                 {.further = {{"per_device_train_batch_size", "1"}}});
  EXPECT_EQ(LayoutOf(imported), "tp1.cp8.pp1.dp1.mb1.vpp1.zero3.sp0.rc=full.sched=1f1b");
}

// huggingface/accelerate, examples/config_yaml_templates/fsdp.yaml.
TEST(ImportAccelerate, RefusesFsdp1) {
  const Imported imported = From("accelerate", R"(# a comment
distributed_type: FSDP
mixed_precision: 'bf16'
num_processes: 2
fsdp_config:
  fsdp_activation_checkpointing: false
  fsdp_backward_prefetch: BACKWARD_PRE
  fsdp_sharding_strategy: FULL_SHARD
  fsdp_use_orig_params: true
)",
                                 {.further = {{"per_device_train_batch_size", "2"}}});
  EXPECT_THAT(HintOf(imported, "fsdp_config.fsdp_sharding_strategy"), HasSubstr("to-fsdp2"));
  EXPECT_THAT(Rejected(imported), ElementsAre("fsdp_config.fsdp_sharding_strategy"));
}

TEST(ImportAccelerate, NamesTheLineOfATextThatIsNoYaml) {
  const auto imported =
      Import(**FindFramework("from", "accelerate"), {.files = {{"a.yaml", "a: 1\n  b: 2\n"}}});
  EXPECT_THAT(std::string(imported.status().message()), HasSubstr("a.yaml:2"));
}

// --- DeepSpeed: huggingface/accelerate,
// examples/deepspeed_config_templates/zero_stage3_offload_config.json.
constexpr char kZero3[] = R"({
  "fp16": {"enabled": true, "loss_scale": 0, "initial_scale_power": 16},
  "optimizer": {"type": "AdamW", "params": {"lr": "auto", "weight_decay": "auto"}},
  "scheduler": {"type": "WarmupDecayLR", "params": {"warmup_min_lr": "auto"}},
  "zero_optimization": {
    "stage": 3,
    "offload_optimizer": {"device": "cpu", "pin_memory": true},
    "offload_param": {"device": "cpu", "pin_memory": true},
    "overlap_comm": true,
    "contiguous_gradients": true,
    "reduce_bucket_size": "auto",
    "sub_group_size": 1e9,
    "stage3_max_live_parameters": 1e9,
    "stage3_gather_16bit_weights_on_model_save": "auto"
  },
  "gradient_accumulation_steps": 1,
  "train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": "auto"
})";

TEST(ImportDeepspeed, ReadsThePublishedOffload) {
  const Imported imported =
      From("deepspeed", kZero3,
           {.further = {{"per_device_train_batch_size", "2"}}, .devices = 8, .seq_len = 2048});
  EXPECT_EQ(LayoutOf(imported),
            "tp1.cp1.pp1.dp8.mb2.vpp1.zero3.sp0.rc=none.sched=1f1b.offload=opt+param");
  EXPECT_EQ(imported.dtype, "fp16");
  EXPECT_EQ(imported.global_batch, 16);
  EXPECT_THAT(Rejected(imported), ElementsAre("zero_optimization.reduce_bucket_size"));
  EXPECT_THAT(HintOf(imported, "train_batch_size"), HasSubstr("a trainer's argument says it"));
}

TEST(ImportDeepspeed, LeavesToTheTrainerWhatIsAuto) {
  const std::string json = R"({"bf16": {"enabled": "auto"}, "fp16": {"enabled": "auto"},
    "train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 2}})";
  const Imported asks = From("deepspeed", json, {.devices = 8});
  EXPECT_EQ(asks.dtype, "");
  EXPECT_THAT(asks.missing, Contains(HasSubstr("the number format is not said")));
  const Imported imported =
      From("deepspeed", json,
           {.further = {{"per_device_train_batch_size", "1"}, {"bf16", "true"}}, .devices = 8});
  EXPECT_EQ(imported.dtype, "bf16");
  EXPECT_EQ(LayoutOf(imported), "tp1.cp1.pp1.dp8.mb1.vpp1.zero2.sp0.rc=none.sched=1f1b");
}

// deepspeedai/DeepSpeed, examples/sdma_allgather/ds_config_zero3.json.
TEST(ImportDeepspeed, ReadsThePublishedZero3AndItsBuckets) {
  const Imported imported = From("deepspeed", R"({
  "train_micro_batch_size_per_gpu": 1,
  "gradient_accumulation_steps": 1,
  "optimizer": {"type": "AdamW", "params": {"lr": 1e-5, "betas": [0.9, 0.999]}},
  "gradient_clipping": 1.0,
  "bf16": {"enabled": true},
  "zero_optimization": {
    "stage": 3, "allgather_partitions": true, "allgather_bucket_size": 5e7, "overlap_comm": true,
    "reduce_scatter": true, "reduce_bucket_size": 5e7, "contiguous_gradients": true,
    "stage3_max_live_parameters": 1e9, "stage3_max_reuse_distance": 1e9,
    "stage3_prefetch_bucket_size": 5e7, "stage3_param_persistence_threshold": 1e5,
    "stage3_gather_16bit_weights_on_model_save": true, "sub_group_size": 1e12
  },
  "wall_clock_breakdown": false
})",
                                 {.devices = 8});
  EXPECT_EQ(LayoutOf(imported), "tp1.cp1.pp1.dp8.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b");
  EXPECT_THAT(Rejected(imported), ElementsAre("zero_optimization.allgather_bucket_size",
                                              "zero_optimization.reduce_bucket_size",
                                              "zero_optimization.sub_group_size"));
}

// --- LLaMA-Factory: hiyouga/LLaMA-Factory, examples/train_full/qwen3_full_sft.yaml with
// examples/deepspeed/ds_z3_config.json.
TEST(ImportLlamaFactory, ReadsThePublishedSftWithItsDeepspeedFile) {
  const std::string yaml = R"(### model
model_name_or_path: Qwen/Qwen3-4B-Instruct-2507
trust_remote_code: true

### method
stage: sft
do_train: true
finetuning_type: full
deepspeed: examples/deepspeed/ds_z3_config.json  # choices

dataset: identity,alpaca_en_demo
cutoff_len: 2048
max_samples: 1000

per_device_train_batch_size: 1
gradient_accumulation_steps: 2
learning_rate: 1.0e-5
bf16: true
resume_from_checkpoint: null
)";
  EXPECT_THAT(HintOf(From("llamafactory", yaml, {.devices = 8}), "deepspeed"),
              HasSubstr("names a file, which must be given too"));
  const Imported imported = From("llamafactory", yaml,
                                 {.files = {{"ds.json", R"({
  "train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
  "gradient_accumulation_steps": "auto", "gradient_clipping": "auto",
  "zero_allow_untested_optimizer": true,
  "fp16": {"enabled": "auto", "loss_scale": 0}, "bf16": {"enabled": "auto"},
  "zero_optimization": {"stage": 3, "overlap_comm": false, "contiguous_gradients": true,
    "sub_group_size": 1e9, "stage3_max_live_parameters": 1e9,
    "stage3_gather_16bit_weights_on_model_save": true}
})"}},
                                  .devices = 8});
  EXPECT_EQ(LayoutOf(imported), "tp1.cp1.pp1.dp8.mb1.vpp1.zero3.sp0.rc=full.sched=1f1b");
  EXPECT_EQ(imported.model, "Qwen/Qwen3-4B-Instruct-2507");
  EXPECT_EQ(imported.global_batch, 16);
  EXPECT_EQ(imported.seq_len, 2048);
  EXPECT_EQ(imported.dtype, "bf16");
  EXPECT_THAT(Rejected(imported), IsEmpty());
}

// --- Axolotl: axolotl-ai-cloud/axolotl, examples/distributed-parallel/llama-3_1-8b-hsdp-tp.yaml.
TEST(ImportAxolotl, ReadsThePublishedHsdp) {
  const Imported imported = From("axolotl", R"(base_model: meta-llama/Llama-3.1-8B

plugins:
  - axolotl.integrations.cut_cross_entropy.CutCrossEntropyPlugin

dp_shard_size: 4
dp_replicate_size: 2
tensor_parallel_size: 2
# context_parallel_size: 2

special_tokens:
  pad_token: <|end_of_text|>

fsdp_version: 2
fsdp_config:
  offload_params: false
  state_dict_type: FULL_STATE_DICT
  auto_wrap_policy: TRANSFORMER_BASED_WRAP
  transformer_layer_cls_to_wrap: LlamaDecoderLayer
  reshard_after_forward: true

datasets:
  - path: tatsu-lab/alpaca
    type: alpaca

sequence_len: 2048
sample_packing: true
attn_implementation: flash_attention_2
gradient_accumulation_steps: 1
micro_batch_size: 1
optimizer: adamw_torch_fused
learning_rate: 2e-6
bf16: true
tf32: true
)");
  EXPECT_EQ(LayoutOf(imported),
            "tp2.cp1.pp1.dp8.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b.attn=flash2.hs=4");
  EXPECT_EQ(imported.devices, 16);
  EXPECT_EQ(imported.global_batch, 8);
  EXPECT_THAT(Rejected(imported), ElementsAre("plugins"));
}

// --- ms-swift: modelscope/ms-swift, examples/megatron/dense/qwen3_32b.sh.
TEST(ImportSwift, ReadsThePublishedQwen3) {
  const Imported imported = From("ms-swift", R"(# 8 * 80GiB
PYTORCH_CUDA_ALLOC_CONF='expandable_segments:True' \
NPROC_PER_NODE=8 \
CUDA_VISIBLE_DEVICES=0,1,2,3,4,5,6,7 \
megatron sft \
    --model Qwen/Qwen3-32B \
    --save_safetensors true \
    --dataset 'liucong/Chinese-DeepSeek-R1-Distill-data-110k-SFT' \
    --load_from_cache_file true \
    --split_dataset_ratio 0.01 \
    --tensor_model_parallel_size 8 \
    --micro_batch_size 1 \
    --global_batch_size 16 \
    --packing true \
    --recompute_granularity full \
    --recompute_method uniform \
    --recompute_num_layers 1 \
    --finetune true \
    --cross_entropy_loss_fusion true \
    --lr 1e-5 \
    --max_length 8192 \
    --dataset_num_proc 8 \
    --no_save_optim true \
    --sequence_parallel true \
    --attention_backend flash
)");
  EXPECT_EQ(LayoutOf(imported), "tp8.cp1.pp1.dp1.mb1.vpp1.zero0.sp1.rc=full.sched=1f1b");
  EXPECT_EQ(imported.model, "Qwen/Qwen3-32B");
  EXPECT_EQ(imported.global_batch, 16);
  EXPECT_EQ(imported.dtype, "bf16");
  EXPECT_THAT(Rejected(imported), IsEmpty());
}

// --- NeMo AutoModel: NVIDIA-NeMo/Automodel,
// examples/llm_finetune/llama3_1/customizer_llama_3_1_8b_full_sft_tp.yaml.
TEST(ImportAutomodel, ReadsThePublishedSft) {
  const Imported imported = From("automodel", R"(recipe: TrainFinetuneRecipeForNextTokenPrediction
dist_env:
  backend: nccl
model:
  pretrained_model_name_or_path: meta-llama/Llama-3.1-8B-Instruct
  torch_dtype: auto
  attn_implementation: sdpa
distributed:
  _target_: nemo_automodel.components.distributed.fsdp2.FSDP2Manager
  dp_size: 4
  tp_size: 2
  pp_size: 1
  cp_size: 1
  ep_size: null
  sequence_parallel: false
step_scheduler:
  global_batch_size: 8
  local_batch_size: 1
  max_steps: 13
optimizer:
  _target_: torch.optim.Adam
  lr: 5.0e-06
  betas:
  - 0.9
  - 0.999
dataset:
  seq_length: 2048
loss_fn:
  _target_: nemo_automodel.components.loss.masked_ce.MaskedCrossEntropy
)");
  EXPECT_EQ(LayoutOf(imported), "tp2.cp1.pp1.dp4.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b");
  EXPECT_EQ(imported.devices, 8);
  EXPECT_EQ(imported.seq_len, 2048);
  EXPECT_EQ(imported.dtype, "bf16");
  EXPECT_THAT(Rejected(imported), IsEmpty());
  EXPECT_TRUE(imported.complete());
}

// --- nanotron: huggingface/nanotron, examples/config_tiny_llama.yaml.
TEST(ImportNanotron, ReadsThePublishedTinyLlama) {
  const Imported imported = From("nanotron", R"(checkpoints:
  checkpoint_interval: 1000
data_stages:
- data:
    dataset: null
    seed: 42
  name: Stable Training Stage
general:
  project: debug
lighteval: null
model:
  ddp_bucket_cap_mb: 25
  dtype: bfloat16
  init_method:
    std: 0.025
  make_vocab_size_divisible_by: 1
  model_config:
    hidden_act: silu
    hidden_size: 2048
    intermediate_size: 11008
    num_attention_heads: 16
    num_hidden_layers: 28
    num_key_value_heads: 2
    vocab_size: 128256
optimizer:
  accumulate_grad_in_fp32: true
  learning_rate_scheduler:
    learning_rate: 0.0003
  optimizer_factory:
    name: adamW
  zero_stage: 0
parallelism:
  dp: 4
  expert_parallel_size: 1
  pp: 1
  pp_engine: 1f1b
  tp: 2
  tp_linear_async_communication: true
  tp_mode: REDUCE_SCATTER
tokens:
  batch_accumulation_per_replica: 1
  micro_batch_size: 3
  sequence_length: 4096
  train_steps: 2000
)");
  EXPECT_EQ(LayoutOf(imported), "tp2.cp1.pp1.dp4.mb3.vpp1.zero0.sp1.rc=none.sched=1f1b");
  EXPECT_EQ(imported.global_batch, 12);
  EXPECT_EQ(imported.devices, 8);
  EXPECT_THAT(Rejected(imported), IsEmpty());
}

// --- torchtitan: pytorch/torchtitan 0.3.0, torchtitan/models/llama3/config_registry.py, llama3_8b.
TEST(ImportTorchtitan, ReadsThePublishedLlama3) {
  const Imported imported = From("torchtitan", R"(
from torchtitan.trainer import Trainer
from torchtitan.models.llama3 import model_registry

def llama3_8b() -> Trainer.Config:
    model_spec = model_registry("8B")
    return Trainer.Config(
        loss=ChunkedLossWrapper.Config(
            loss_fn=CrossEntropyLoss.Config(
                global_vocab_size=decoder_vocab_size(model_spec),
            ),
        ),
        hf_assets_path="./assets/hf/Llama-3.1-8B",
        model_spec=model_spec,
        optimizer=default_adamw(lr=3e-4),
        training=TrainingConfig(
            local_batch_size=1,
            seq_len=8192,
            steps=1000,
        ),
        dataloader=HuggingFaceTextDataLoader.Config(
            dataset="c4",
        ),
        checkpoint=CheckpointManager.Config(interval=500),
        activation_checkpoint=SelectiveAC.Config(),
    )
)",
                                 {.devices = 64});
  EXPECT_EQ(LayoutOf(imported), "tp1.cp1.pp1.dp64.mb1.vpp1.zero3.sp0.rc=selective.sched=1f1b");
  EXPECT_EQ(imported.seq_len, 8192);
  EXPECT_EQ(imported.global_batch, 64);
  EXPECT_THAT(imported.model, HasSubstr("llama-3"));
  EXPECT_THAT(Rejected(imported), IsEmpty());
}

}  // namespace
}  // namespace meshwright::planner

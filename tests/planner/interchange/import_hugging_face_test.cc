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
  EXPECT_THAT(HintOf(imported, "train_batch_size"),
              HasSubstr("taken from the trainer's arguments"));
}

TEST(ImportDeepspeed, LeavesToTheTrainerWhatIsAuto) {
  const std::string json = R"({"bf16": {"enabled": "auto"}, "fp16": {"enabled": "auto"},
    "train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 2}})";
  const Imported asks = From("deepspeed", json, {.devices = 8});
  EXPECT_EQ(asks.dtype, "");
  EXPECT_THAT(asks.missing, Contains(HasSubstr("the number format is missing")));
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

}  // namespace
}  // namespace meshwright::planner

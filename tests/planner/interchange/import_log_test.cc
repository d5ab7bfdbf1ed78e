#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/interchange/config_files.h"
#include "planner/interchange/log_entries.h"
#include "tests/planner/interchange/imports.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Megatron-LM 0.19, megatron/training/arguments.py, _print_args: rank 0 lists all arguments after
// validate_args changed some. torchrun's --log-prefix stands before each line.
constexpr char kListing[] = R"([default0]:using world size: 16, data-parallel size: 2
[default0]:using torch.bfloat16 for parameters ...
[default0]:------------------------ arguments ------------------------
[default0]:  accumulate_allreduce_grads_in_fp32 .............. True
[default0]:  adam_beta1 ...................................... 0.9
[default0]:  attention_backend ............................... AttnBackend.fused
[default0]:  bf16 ............................................ True
[default0]:  data_parallel_size .............................. 2
[default3]:a line of another rank
[default0]:  expert_tensor_parallel_size ..................... 4
[default0]:  fp16 ............................................ False
[default0]:  fp8 ............................................. None
[default0]:  fp8_recipe ...................................... delayed
[default0]:  global_batch_size ............................... 64
[default0]:  hidden_size ..................................... 4096
[default0]:  inference_dynamic_batching_paused_buffer_size_gb  None
[default0]:  lr .............................................. 0.0003
[default0]:  micro_batch_size ................................ 1
[default0]:  num_experts ..................................... None
[default0]:  num_layers ...................................... 32
[default0]:  pipeline_model_parallel_size .................... 2
[default0]:  rank ............................................ 0
[default0]:  recompute_granularity ........................... selective
[default0]:  recompute_modules ............................... ['core_attn', 'mlp']
[default0]:  seq_length ...................................... 4096
[default0]:  sequence_parallel ............................... True
[default0]:  tensor_model_parallel_size ...................... 4
[default0]:  tp_comm_overlap ................................. False
[default0]:  use_distributed_optimizer ....................... True
[default0]:  world_size ...................................... 16
[default0]:-------------------- end of arguments ---------------------
)";

TEST(ImportLog, ReadsTheArgumentsThatMegatronLists) {
  const Imported imported = From("megatron", kListing);
  EXPECT_EQ(LayoutOf(imported),
            "tp4.cp1.pp2.dp2.mb1.vpp1.zero1.sp1.rc=mlp+core_attn.sched=1f1b.attn=cudnn");
  EXPECT_EQ(imported.devices, 16);
  EXPECT_EQ(imported.dtype, "bf16");
  EXPECT_EQ(imported.seq_len, 4096);
  EXPECT_THAT(Rejected(imported), IsEmpty());
  EXPECT_THAT(HintOf(imported, "--adam-beta1"), HasSubstr("the default of release"));
  EXPECT_EQ(HintOf(imported, "rank"), "the program computes it");
  EXPECT_EQ(HintOf(imported, "--lr"), "the learning rate");
}

TEST(ImportLog, RejectsAListedArgumentThatChangesTime) {
  std::string log = kListing;
  const std::string off = "tp_comm_overlap ................................. False";
  log.replace(log.find(off), off.size(), "tp_comm_overlap ................................. True");
  EXPECT_THAT(Rejected(From("megatron", log)), ElementsAre("--tp-comm-overlap"));
}

// Megatron-LM 0.19, megatron/training/checkpointing.py, load_args_from_checkpoint.
TEST(ImportLog, ReadsWhatACheckpointSets) {
  const Imported imported = From("megatron",
                                 "Setting num_layers to 32 from checkpoint\n"
                                 "Setting tensor_model_parallel_size to 2 from checkpoint\n"
                                 "Setting bf16 to True from checkpoint\n",
                                 {.further = {{"--micro-batch-size", "1"}}, .devices = 8});
  EXPECT_EQ(LayoutOf(imported), "tp2.cp1.pp1.dp4.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b");
}

// deepspeed/runtime/config.py of release 0.19, print_user_config; transformers 5, the repr of
// TrainingArguments, which examples/pytorch/language-modeling/run_clm.py logs.
constexpr char kDeepspeedLog[] =
    R"(11/29/2026 10:00:00 - INFO - __main__ - Training/evaluation parameters TrainingArguments(
_n_gpu=1,
adam_beta1=0.9,
bf16=True,
fp16=False,
gradient_accumulation_steps=4,
gradient_checkpointing=True,
learning_rate=2e-05,
optim=OptimizerNames.ADAMW_TORCH_FUSED,
per_device_train_batch_size=2,
)
[2026-11-29 10:00:09,100] [INFO] [config.py:1020:print]   world_size ................... 8
[2026-11-29 10:00:09,100] [INFO] [config.py:1006:print_user_config]   json = {
    "train_batch_size": 64,
    "train_micro_batch_size_per_gpu": 2,
    "gradient_accumulation_steps": 4,
    "zero_optimization": {
        "stage": 3
    },
    "bf16": {
        "enabled": true
    }
}
)";

TEST(ImportLog, ReadsDeepspeedsPrintWithTheTrainersArguments) {
  const Imported imported = From("deepspeed", kDeepspeedLog);
  EXPECT_EQ(LayoutOf(imported), "tp1.cp1.pp1.dp8.mb2.vpp1.zero3.sp0.rc=full.sched=1f1b");
  EXPECT_THAT(Rejected(imported), IsEmpty());
}

// torchtitan 0.3.0, torchtitan/trainer.py, Config.maybe_log under --debug.print_config.
constexpr char kTorchtitanLog[] =
    R"([titan] 2026-11-29 10:00:00,000 - root - INFO - Running with configs: {
  "model_spec": {
    "name": "llama3",
    "flavor": "8B",
    "model": {
      "dim": 4096
    }
  },
  "training": {
    "local_batch_size": 1,
    "global_batch_size": -1,
    "seq_len": 8192,
    "dtype": "float32",
    "mixed_precision_param": "bfloat16",
    "steps": 1000
  },
  "parallelism": {
    "data_parallel_replicate_degree": 1,
    "data_parallel_shard_degree": -1,
    "fsdp_reshard_after_forward": "default",
    "tensor_parallel_degree": 2,
    "pipeline_parallel_degree": 1,
    "context_parallel_degree": 1,
    "module_fqns_per_model_part": null
  },
  "activation_checkpoint": {
    "force_recompute_mm_shapes_by_fqns": ["moe.router.gate"]
  },
  "compile": {
    "enable": false
  }
}
[titan] 2026-11-29 10:00:01,000 - root - INFO - Building device mesh
)";

TEST(ImportLog, ReadsTheConfigurationThatTorchtitanPrints) {
  const Imported imported = From("torchtitan", kTorchtitanLog, {.devices = 16});
  EXPECT_EQ(LayoutOf(imported), "tp2.cp1.pp1.dp8.mb1.vpp1.zero3.sp1.rc=selective.sched=1f1b");
  EXPECT_EQ(imported.seq_len, 8192);
  EXPECT_THAT(Rejected(imported), IsEmpty());
}

// Megatron-Bridge 0.6, iter_N/run_config.yaml of a checkpoint: ConfigContainer.to_yaml.
constexpr char kRunConfig[] = R"(_target_: megatron.bridge.training.config.ConfigContainer
checkpoint:
  _target_: megatron.bridge.training.config.CheckpointConfig
  save_interval: 500
ddp:
  _target_: megatron.bridge.training.config.DistributedDataParallelConfig
  grad_reduce_in_fp32: true
  overlap_grad_reduce: true
  overlap_param_gather: true
  use_distributed_optimizer: true
  use_megatron_fsdp: false
mixed_precision:
  _target_: megatron.bridge.training.mixed_precision.MixedPrecisionConfig
  bf16: true
  fp16: false
  fp8: null
  fp8_recipe: tensorwise
model:
  _target_: megatron.bridge.models.llama.llama_provider.Llama3ModelProvider8B
  attention_backend:
    _args_:
    - 5
    _call_: true
    _target_: megatron.core.transformer.enums.AttnBackend
  context_parallel_size: 2
  hidden_size: 4096
  num_layers: 32
  pipeline_model_parallel_size: 1
  recompute_granularity: null
  sequence_parallel: true
  seq_length: 8192
  tensor_model_parallel_size: 2
  virtual_pipeline_model_parallel_size: null
optimizer:
  _target_: megatron.bridge.training.config.OptimizerConfig
  use_distributed_optimizer: true
  lr: 0.0003
train:
  _target_: megatron.bridge.training.config.TrainingConfig
  global_batch_size: 128
  micro_batch_size: 1
)";

TEST(ImportLog, ReadsTheConfigurationThatMegatronBridgeSaves) {
  const Imported imported = From("megatron-bridge", kRunConfig, {.devices = 16});
  EXPECT_EQ(LayoutOf(imported), "tp2.cp2.pp1.dp4.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b");
  EXPECT_EQ(imported.dtype, "bf16");
  EXPECT_EQ(imported.global_batch, 128);
  EXPECT_THAT(Rejected(imported), IsEmpty());
}

TEST(ImportLog, NeverReadsAPickle) {
  for (const char* start : {"PK\x03\x04", "\x80\x04\x95"}) {
    const auto imported = Import(MegatronFramework(), {.files = {{"common.pt", start}}});
    EXPECT_EQ(FieldOf(imported.status()), "file");
    EXPECT_THAT(std::string(imported.status().message()), HasSubstr("a pickle is never read"));
  }
}

TEST(ImportLog, SaysWhichPrintDoesNotEnd) {
  for (const char* log : {"------------------------ arguments ------------------------\n  a . 1\n",
                          "x json = {\n", "Running with configs: {\n", "TrainingArguments(\n"}) {
    EXPECT_THAT(std::string(ReadLogEntries({"log", log}).status().message()),
                HasSubstr("that does not end"))
        << log;
  }
}

TEST(FrameworkOfFiles, IsTheOneWhoseWordsTheyHave) {
  const auto name = [](const char* text) {
    const auto framework = FrameworkOfFiles({{"f", text}});
    return framework.ok() ? std::string((*framework)->name)
                          : std::string(framework.status().message());
  };
  EXPECT_EQ(name(kListing), "megatron");
  EXPECT_EQ(name(kTorchtitanLog), "torchtitan");
  EXPECT_EQ(name(kRunConfig), "megatron-bridge");
  EXPECT_EQ(name("torchrun -m verl.trainer.sft_trainer"), "verl");
  EXPECT_THAT(name("echo"), HasSubstr("names of no framework; must be megatron, "));
  EXPECT_THAT(name("axolotl llamafactory-cli"), HasSubstr("names of llamafactory and axolotl"));
}

}  // namespace
}  // namespace meshwright::planner

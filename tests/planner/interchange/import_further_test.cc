#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "planner/interchange/import.h"
#include "tests/planner/interchange/imports.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

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
  EXPECT_EQ(LayoutOf(imported), "tp2.cp1.pp1.dp4.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b.attn=sdpa");
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

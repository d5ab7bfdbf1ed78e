#!/usr/bin/env bash
# llama-3-8b as tp1.cp1.pp1.dp16.mb1.vpp1.zero3.sp0.rc=full.sched=1f1b
# on 16 devices with Hugging Face's Trainer and DeepSpeed, for sequences of 8192 tokens.
# The script, its data, learning rate and checkpoints are yours.
cat >deepspeed.json <<'END_OF_FILE'
{
  "train_batch_size": 256,
  "train_micro_batch_size_per_gpu": 1,
  "gradient_accumulation_steps": 16,
  "zero_optimization": {
    "stage": 3
  },
  "bf16": {
    "enabled": true
  },
  "trainer_arguments": {
    "gradient_checkpointing": true
  }
}
END_OF_FILE
torchrun --nnodes 2 --nproc-per-node 8 \
  --node-rank "${NODE_RANK:-0}" --master-addr "${MASTER_ADDR:-localhost}" --master-port "${MASTER_PORT:-29500}" \
  train.py \
  --deepspeed deepspeed.json \
  --per_device_train_batch_size 1 \
  --gradient_accumulation_steps 16 \
  --bf16 true \
  --gradient_checkpointing true \
  "$@"

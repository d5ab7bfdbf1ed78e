#!/usr/bin/env bash
# llama-3-70b as tp4.cp1.pp4.dp4.mb2.vpp1.zero1.sp1.rc=mlp+core_attn.sched=1f1b.stages=18+2x22+18
# on 64 devices with Megatron-Bridge. RECIPE names the recipe of the model. Data, learning rate and
# checkpoints are yours: pass their overrides to this script.
torchrun --nnodes 8 --nproc-per-node 8 \
  --node-rank "${NODE_RANK:-0}" --master-addr "${MASTER_ADDR:-localhost}" --master-port "${MASTER_PORT:-29500}" \
  scripts/training/run_recipe.py --recipe "${RECIPE:?names the recipe of the model}" \
  model.tensor_model_parallel_size=4 \
  model.pipeline_model_parallel_size=4 \
  model.context_parallel_size=1 \
  "model.pipeline_model_parallel_layout='Etttttttttttttttttt|(tttttttttttttttttttttt|)*2ttttttttttttttttttL'" \
  model.sequence_parallel=true \
  train.micro_batch_size=2 \
  train.global_batch_size=2048 \
  model.seq_length=8192 \
  dataset.seq_length=8192 \
  ddp.use_distributed_optimizer=true \
  optimizer.use_distributed_optimizer=true \
  ddp.overlap_grad_reduce=true \
  ddp.overlap_param_gather=true \
  model.recompute_granularity=selective \
  'model.recompute_modules=[mlp,core_attn]' \
  model.attention_backend=flash \
  mixed_precision=bf16_mixed \
  "$@"

#!/usr/bin/env bash
# qwen2.5-7b as tp1.cp2.pp1.dp8.mb1.vpp1.zero3.sp0.rc=block:4.sched=1f1b
# on 16 devices with Megatron-LM. Data, tokenizer, learning rate and checkpoints are yours: pass their
# flags to this script.
unset CUDA_DEVICE_MAX_CONNECTIONS
torchrun --nnodes 2 --nproc-per-node 8 \
  --node-rank "${NODE_RANK:-0}" --master-addr "${MASTER_ADDR:-localhost}" --master-port "${MASTER_PORT:-29500}" \
  pretrain_gpt.py \
  --tensor-model-parallel-size 1 --pipeline-model-parallel-size 1 --context-parallel-size 2 \
  --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params \
  --no-gradient-accumulation-fusion --ckpt-format fsdp_dtensor \
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather \
  --micro-batch-size 1 --global-batch-size 8 \
  --recompute-granularity full --recompute-method block --recompute-num-layers 4 \
  --num-layers 28 --hidden-size 3584 --ffn-hidden-size 18944 \
  --num-attention-heads 28 --kv-channels 128 \
  --group-query-attention --num-query-groups 4 \
  --swiglu \
  --normalization RMSNorm --norm-epsilon 1e-06 \
  --position-embedding-type rope --rotary-base 1000000 \
  --seq-length 4096 --max-position-embeddings 4096 \
  --vocab-size 152064 --make-vocab-size-divisible-by 128 \
  --disable-bias-linear --add-qkv-bias \
  --untie-embeddings-and-output-weights \
  --init-method-std 0.02 \
  --attention-dropout 0.0 --hidden-dropout 0.0 \
  --attention-backend flash \
  --bf16 \
  "$@"

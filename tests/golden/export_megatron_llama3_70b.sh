#!/usr/bin/env bash
# llama-3-70b as tp4.cp1.pp4.dp4.mb2.vpp5.zero1.sp1.rc=selective.sched=interleaved
# on 64 devices with Megatron-LM. Data, tokenizer, learning rate and checkpoints are yours: pass their
# flags to this script.
export CUDA_DEVICE_MAX_CONNECTIONS=1
torchrun --nnodes 8 --nproc-per-node 8 \
  --node-rank "${NODE_RANK:-0}" --master-addr "${MASTER_ADDR:-localhost}" --master-port "${MASTER_PORT:-29500}" \
  pretrain_gpt.py \
  --tensor-model-parallel-size 4 --pipeline-model-parallel-size 4 --context-parallel-size 1 \
  --num-virtual-stages-per-pipeline-rank 5 \
  --sequence-parallel \
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather \
  --micro-batch-size 2 --global-batch-size 512 \
  --recompute-granularity selective \
  --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672 \
  --num-attention-heads 64 --kv-channels 128 \
  --group-query-attention --num-query-groups 8 \
  --swiglu \
  --normalization RMSNorm --norm-epsilon 1e-05 \
  --position-embedding-type rope --rotary-base 500000 \
  --seq-length 8192 --max-position-embeddings 8192 \
  --vocab-size 128256 --make-vocab-size-divisible-by 128 \
  --disable-bias-linear \
  --untie-embeddings-and-output-weights \
  --init-method-std 0.02 \
  --attention-dropout 0.0 --hidden-dropout 0.0 \
  --attention-backend flash \
  --bf16 \
  "$@"

#!/usr/bin/env bash
# llama-3-8b as tp4.cp1.pp2.dp4.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b
# on 32 devices with Megatron-LM. Data, tokenizer, learning rate and checkpoints are yours: pass their
# flags to this script.
# Run this script inside an allocation of 4 nodes, such as that of salloc --nodes 4.
export CUDA_DEVICE_MAX_CONNECTIONS=1
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=${MASTER_PORT:-29500}
export MASTER_ADDR MASTER_PORT
srun --nodes=4 --ntasks-per-node=1 --cpu-bind=none \
  bash -c 'exec torchrun --nnodes 4 --nproc-per-node 8 --node-rank "$SLURM_NODEID" --master-addr "$MASTER_ADDR" --master-port "$MASTER_PORT" "$@"' bash \
  pretrain_gpt.py \
  --tensor-model-parallel-size 4 --pipeline-model-parallel-size 2 --context-parallel-size 1 \
  --sequence-parallel \
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather \
  --micro-batch-size 1 --global-batch-size 256 \
  --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 \
  --num-attention-heads 32 --kv-channels 128 \
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

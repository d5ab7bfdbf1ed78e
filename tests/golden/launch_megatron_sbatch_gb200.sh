#!/usr/bin/env bash
# llama-3-8b as tp4.cp1.pp2.dp9.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b
# on 72 devices with Megatron-LM. Data, tokenizer, learning rate and checkpoints are yours: pass their
# flags to this script.
#SBATCH --job-name=train
#SBATCH --nodes=18
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=4
#SBATCH --exclusive
#SBATCH --segment=18
#SBATCH --output=%x-%j.log
# Partition, account and time are yours. Where the devices of several nodes are joined, --segment is
# the number of nodes that one rack must give:
#   sbatch --partition=P --account=A --time=T [--segment=N] THIS_FILE [ARGUMENTS OF THE PROGRAM]
set -euo pipefail
# An image that pyxis starts on every node; empty: the nodes' own software.
CONTAINER_IMAGE=${CONTAINER_IMAGE:-}
export CUDA_DEVICE_MAX_CONNECTIONS=1
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=${MASTER_PORT:-29500}
export MASTER_ADDR MASTER_PORT
srun --nodes=18 --ntasks-per-node=1 --cpu-bind=none \
  ${CONTAINER_IMAGE:+--container-image="$CONTAINER_IMAGE" --container-mounts="$PWD:$PWD" --container-workdir="$PWD"} \
  bash -c 'exec torchrun --nnodes 18 --nproc-per-node 4 --node-rank "$SLURM_NODEID" --master-addr "$MASTER_ADDR" --master-port "$MASTER_PORT" "$@"' bash \
  pretrain_gpt.py \
  --tensor-model-parallel-size 4 --pipeline-model-parallel-size 2 --context-parallel-size 1 \
  --sequence-parallel \
  --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather \
  --micro-batch-size 1 --global-batch-size 288 \
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

#!/usr/bin/env bash
# llama-3-8b as tp4.cp1.pp2.dp3.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b
# on 24 devices with ms-swift. MODEL names the model. Data, learning rate and checkpoints are yours:
# pass their arguments to this script.
#SBATCH --job-name=train
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=16
#SBATCH --exclusive
#SBATCH --output=%x-%j.log
# Partition, account and time are yours. Where the devices of several nodes are joined, --segment is
# the number of nodes that one rack must give:
#   sbatch --partition=P --account=A --time=T [--segment=N] THIS_FILE [ARGUMENTS OF THE PROGRAM]
set -euo pipefail
# An image that pyxis starts on every node; empty: the nodes' own software.
CONTAINER_IMAGE=${CONTAINER_IMAGE:-}
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=${MASTER_PORT:-29500}
export MASTER_ADDR MASTER_PORT
srun --nodes=2 --ntasks-per-node=1 --cpu-bind=none \
  ${CONTAINER_IMAGE:+--container-image="$CONTAINER_IMAGE" --container-mounts="$PWD:$PWD" --container-workdir="$PWD"} \
  bash -c 'processes=16; if [ "$SLURM_NODEID" -eq 1 ]; then processes=8; fi; NNODES=2 NPROC_PER_NODE="$processes" NODE_RANK="$SLURM_NODEID" MASTER_ADDR="$MASTER_ADDR" MASTER_PORT="$MASTER_PORT" exec "$@"' bash \
  megatron sft --model "${MODEL:?names the model}" \
  --tensor_model_parallel_size 4 --pipeline_model_parallel_size 2 --context_parallel_size 1 \
  --sequence_parallel true \
  --use_distributed_optimizer true --overlap_grad_reduce true --overlap_param_gather true \
  --micro_batch_size 1 --global_batch_size 96 --max_length 8192 \
  --recompute_granularity none \
  --attention_backend flash \
  --bf16 true \
  "$@"

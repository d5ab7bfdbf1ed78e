#!/usr/bin/env bash
# llama-3-8b as tp1.cp1.pp1.dp16.mb1.vpp1.zero3.sp0.rc=full.sched=1f1b
#SBATCH --job-name=train
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
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
cat >accelerate.yaml <<'END_OF_FILE'
# llama-3-8b as tp1.cp1.pp1.dp16.mb1.vpp1.zero3.sp0.rc=full.sched=1f1b
# on 16 devices with Hugging Face's Trainer and accelerate, for sequences of 8192 tokens. Start the script on
# every node; its data, learning rate and checkpoints are yours:
#   accelerate launch --config_file THIS_FILE train.py \
#     --per_device_train_batch_size 1 \
#     --gradient_accumulation_steps 16 \
#     --bf16 true
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
mixed_precision: 'bf16'
num_machines: 2
num_processes: 16
fsdp_config:
  fsdp_version: 2
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_reshard_after_forward: true
  fsdp_activation_checkpointing: true
  fsdp_offload_params: false
  fsdp_state_dict_type: SHARDED_STATE_DICT
parallelism_config:
  parallelism_config_dp_replicate_size: 1
  parallelism_config_dp_shard_size: 16
  parallelism_config_tp_size: 1
  parallelism_config_cp_size: 1
END_OF_FILE
srun --nodes=2 --ntasks-per-node=1 --cpu-bind=none \
  ${CONTAINER_IMAGE:+--container-image="$CONTAINER_IMAGE" --container-mounts="$PWD:$PWD" --container-workdir="$PWD"} \
  bash -c 'exec accelerate launch --config_file accelerate.yaml --machine_rank "$SLURM_NODEID" --main_process_ip "$MASTER_ADDR" --main_process_port "$MASTER_PORT" "$@"' bash \
  train.py \
  --per_device_train_batch_size 1 \
  --gradient_accumulation_steps 16 \
  --bf16 true \
  "$@"

#!/usr/bin/env bash
#SBATCH --job-name=train
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node={gpus_per_node}
#SBATCH --exclusive
#SBATCH --segment={segment}
#SBATCH --output=%x-%j.log
# Partition, account and time are yours. Where the devices of several nodes are joined, --segment is
# the number of nodes that one rack must give:
#   sbatch --partition=P --account=A --time=T [--segment=N] THIS_FILE [ARGUMENTS OF THE PROGRAM]
set -euo pipefail
# An image that pyxis starts on every node; empty: the nodes' own software.
CONTAINER_IMAGE=${CONTAINER_IMAGE:-}
{env}
srun --nodes={nodes} --ntasks-per-node=1 --cpu-bind=none \
  ${CONTAINER_IMAGE:+--container-image="$CONTAINER_IMAGE" --container-mounts="$PWD:$PWD" --container-workdir="$PWD"} \
  {command}

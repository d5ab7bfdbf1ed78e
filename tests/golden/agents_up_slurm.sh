#!/bin/sh
#SBATCH --job-name=meshwright-agent-1
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --gpus-per-node=8
#SBATCH --no-requeue
#SBATCH --partition=gpu
#SBATCH --time=12:00:00
#SBATCH --account=lab
#SBATCH --output=meshwright-agent-1.%j.log
exec srun --ntasks=1 --cpu-bind=none '/opt/mesh wright/bin/meshwright' agent --server 10.0.0.1:7077 --tls-ca 'tls/my ca.pem' --token-file tls/meshwright-agent-1.token --devices cuda --name meshwright-agent-1 --no-benchmark --memory-limit-gib 70

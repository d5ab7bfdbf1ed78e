#!/bin/bash -l
#SBATCH --qos=low --mem-per-cpu=2G
#SBATCH --job-name=meshwright-agent
#SBATCH --array=1,3%2
#SBATCH --nodes=2
#SBATCH --ntasks=2
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --comment=%2
#SBATCH --output=meshwright-agent-%a.%A_%a.log
module load cuda
case $SLURM_ARRAY_TASK_ID in
1) srun --ntasks=2 --cpu-bind=none --ntasks-per-node=1 --kill-on-bad-exit=0 --wait=0 sh -c 'case $SLURM_PROCID in 0) exec '\''/opt/mesh wright/bin/meshwright'\'' agent --server 10.0.0.1:7077 --devices cpu:2 --name meshwright-agent-1;; 1) exec '\''/opt/mesh wright/bin/meshwright'\'' agent --server 10.0.0.1:7077 --devices cpu:2 --name meshwright-agent-2;; esac';;
3) srun --ntasks=2 --cpu-bind=none --ntasks-per-node=1 --kill-on-bad-exit=0 --wait=0 sh -c 'case $SLURM_PROCID in 0) exec '\''/opt/mesh wright/bin/meshwright'\'' agent --server 10.0.0.1:7077 --devices cpu:2 --name meshwright-agent-3;; 1) exec '\''/opt/mesh wright/bin/meshwright'\'' agent --server 10.0.0.1:7077 --devices cpu:2 --name meshwright-agent-4;; esac';;
esac
echo "agents ended"

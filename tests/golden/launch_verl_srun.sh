#!/usr/bin/env bash
# llama-3-8b as tp1.cp1.pp1.dp16.mb1.vpp1.zero3.sp0.rc=full.sched=1f1b
# on 16 devices with verl: the update of the policy. Model, data, rollout, rewards and learning rate
# are yours: pass their overrides to this script. Where rollout.n is above 1, divide
# ppo_mini_batch_size by it. A prompt and its answer have half of the tokens each.
# Run this script inside an allocation of 2 nodes, such as that of salloc --nodes 2.
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
MASTER_PORT=${MASTER_PORT:-29500}
export MASTER_ADDR MASTER_PORT
srun --nodes=2 --ntasks-per-node=1 --cpu-bind=none \
  bash -c 'exec ray symmetric-run --address "$MASTER_ADDR":"$MASTER_PORT" --min-nodes 2 --num-gpus 8 -- "$@"' bash \
  python3 -m verl.trainer.main_ppo \
  model_engine=dp \
  actor_rollout_ref.actor.strategy=fsdp2 \
  trainer.nnodes=2 \
  trainer.n_gpus_per_node=8 \
  data.train_batch_size=256 \
  actor_rollout_ref.actor.ppo_mini_batch_size=256 \
  actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
  actor_rollout_ref.actor.use_dynamic_bsz=False \
  data.max_prompt_length=4096 \
  data.max_response_length=4096 \
  actor_rollout_ref.actor.fsdp_config.reshard_after_forward=True \
  actor_rollout_ref.actor.fsdp_config.fsdp_size=-1 \
  actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size=1 \
  actor_rollout_ref.actor.fsdp_config.offload_policy=False \
  actor_rollout_ref.actor.fsdp_config.dtype=bfloat16 \
  actor_rollout_ref.model.enable_gradient_checkpointing=True \
  actor_rollout_ref.model.use_liger=False \
  "$@"

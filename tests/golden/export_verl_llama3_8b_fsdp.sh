#!/usr/bin/env bash
# llama-3-8b as tp1.cp2.pp1.dp16.mb1.vpp1.zero3.sp0.rc=full.sched=1f1b.hs=8
# on 32 devices with verl: the update of the policy. Model, data, rollout, rewards and learning rate
# are yours: pass their overrides to this script. Where rollout.n is above 1, divide
# ppo_mini_batch_size by it. A prompt and its answer have half of the tokens each.
ray symmetric-run --address "${MASTER_ADDR:-localhost}":"${MASTER_PORT:-29500}" --min-nodes 4 --num-gpus 8 -- \
  python3 -m verl.trainer.main_ppo \
  model_engine=dp \
  actor_rollout_ref.actor.strategy=fsdp2 \
  trainer.nnodes=4 \
  trainer.n_gpus_per_node=8 \
  data.train_batch_size=2048 \
  actor_rollout_ref.actor.ppo_mini_batch_size=2048 \
  actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \
  actor_rollout_ref.actor.use_dynamic_bsz=False \
  data.max_prompt_length=4096 \
  data.max_response_length=4096 \
  actor_rollout_ref.actor.fsdp_config.reshard_after_forward=True \
  actor_rollout_ref.actor.fsdp_config.fsdp_size=8 \
  actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size=2 \
  actor_rollout_ref.actor.fsdp_config.offload_policy=False \
  actor_rollout_ref.actor.fsdp_config.dtype=bfloat16 \
  actor_rollout_ref.model.enable_gradient_checkpointing=True \
  actor_rollout_ref.model.use_liger=False \
  "$@"

#!/usr/bin/env bash
# llama-3-70b as tp4.cp1.pp4.dp4.mb2.vpp1.zero1.sp1.rc=full.sched=1f1b.offload=opt
# on 64 devices with verl: the update of the policy. Model, data, rollout, rewards and learning rate
# are yours: pass their overrides to this script. Where rollout.n is above 1, divide
# ppo_mini_batch_size by it. A prompt and its answer have half of the tokens each.
ray symmetric-run --address "${MASTER_ADDR:-localhost}":"${MASTER_PORT:-29500}" --min-nodes 8 --num-gpus 8 -- \
  python3 -m verl.trainer.main_ppo \
  model_engine=megatron \
  actor_rollout_ref.actor.strategy=megatron \
  trainer.nnodes=8 \
  trainer.n_gpus_per_node=8 \
  data.train_batch_size=2048 \
  actor_rollout_ref.actor.ppo_mini_batch_size=2048 \
  actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \
  actor_rollout_ref.actor.use_dynamic_bsz=False \
  data.max_prompt_length=4096 \
  data.max_response_length=4096 \
  actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4 \
  actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=4 \
  actor_rollout_ref.actor.megatron.context_parallel_size=1 \
  actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size=null \
  actor_rollout_ref.actor.megatron.sequence_parallel=True \
  actor_rollout_ref.actor.megatron.use_distributed_optimizer=True \
  +actor_rollout_ref.actor.megatron.override_ddp_config.overlap_grad_reduce=True \
  +actor_rollout_ref.actor.megatron.override_ddp_config.overlap_param_gather=True \
  actor_rollout_ref.actor.megatron.dtype=bfloat16 \
  actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full \
  actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method=uniform \
  actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers=1 \
  actor_rollout_ref.actor.megatron.override_transformer_config.attention_backend=flash \
  +actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_cpu_offload=True \
  +actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_offload_fraction=1 \
  +actor_rollout_ref.actor.optim.override_optimizer_config.overlap_cpu_optimizer_d2h_h2d=True \
  +actor_rollout_ref.actor.optim.override_optimizer_config.use_precision_aware_optimizer=True \
  "$@"

// verl's Hydra overrides of the policy that its PPO trainer updates, with keys as in
// verl/trainer/config/{ppo_trainer,actor/*,engine/*,optim/*,model/hf_model}.yaml of release 0.9.
//
// Layouts that divide gradients or weights are of its FSDP2 engine, others of its Megatron engine.
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/megatron_arithmetic.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kPolicyAlone = "an estimate is for the policy's update";
constexpr std::string_view kBetweenPhases =
    "moves them between rollout and update; an update has them on the device";

// A + before a name adds a key that verl's files do not have.
constexpr NameRow kVerlOverrides[] = {
    {.name = "model_engine", .setting = "engine", .words = "fsdp2=dp megatron"},
    {.name = "actor_rollout_ref.actor.strategy",
     .setting = "engine",
     .words = "fsdp2 fsdp2=fsdp megatron"},
    {.name = "trainer.nnodes", .setting = "nodes"},
    {.name = "trainer.n_gpus_per_node", .setting = "gpus_per_node"},
    {.name = "data.train_batch_size", .setting = "global_batch", .use = NameUse::kExport},
    {.name = "actor_rollout_ref.actor.ppo_mini_batch_size", .setting = "global_batch"},
    {.name = "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu", .setting = "mb"},
    {.name = "actor_rollout_ref.actor.use_dynamic_bsz",
     .words = "False",
     .use = NameUse::kExport,
     .when = "mb"},
    {.name = "data.max_prompt_length", .setting = "prompt_tokens"},
    {.name = "data.max_response_length", .setting = "answer_tokens"},

    {.name = "actor_rollout_ref.actor.fsdp_config.reshard_after_forward",
     .setting = "zero",
     .words = "3=True 2=False",
     .when = "of_fsdp"},
    {.name = "actor_rollout_ref.actor.fsdp_config.fsdp_size",
     .setting = "hs",
     .words = "0=-1 *",
     .when = "of_fsdp"},
    {.name = "actor_rollout_ref.actor.fsdp_config.ulysses_sequence_parallel_size",
     .setting = "cp",
     .when = "of_fsdp"},
    {.name = "actor_rollout_ref.actor.fsdp_config.offload_policy",
     .setting = "offload_all",
     .words = "1=True 0=False",
     .when = "of_fsdp"},
    {.name = "actor_rollout_ref.actor.fsdp_config.dtype",
     .setting = "dtype",
     .words = "bf16=bfloat16 fp16=float16",
     .when = "of_fsdp"},
    {.name = "actor_rollout_ref.model.enable_gradient_checkpointing",
     .setting = "rc",
     .words = "full=True none=False",
     .when = "of_fsdp"},
    {.name = "actor_rollout_ref.model.lora_rank",
     .setting = "adapter_rank",
     .words = "0- *",
     .when = "of_fsdp"},
    {.name = "actor_rollout_ref.model.target_modules",
     .setting = "adapter_targets",
     .when = "of_fsdp"},
    {.name = "actor_rollout_ref.model.use_liger",
     .setting = "norm",
     .words = "fused=True default=False eager=False",
     .when = "of_fsdp"},
    {.name = "+actor_rollout_ref.model.override_config.attn_implementation",
     .setting = "attn",
     .words = "default- flash2=flash_attention_2 flash3=flash_attention_3 eager default=sdpa",
     .when = "of_fsdp"},

    {.name = "actor_rollout_ref.actor.megatron.tensor_model_parallel_size",
     .setting = "tp",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.pipeline_model_parallel_size",
     .setting = "pp",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.context_parallel_size",
     .setting = "cp",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.virtual_pipeline_model_parallel_size",
     .setting = "vpp",
     .words = "1=null *",
     .when = "of_megatron"},
    {.name = "+actor_rollout_ref.actor.megatron.override_transformer_config.pipeline_model_"
             "parallel_layout",
     .setting = "pipeline_layout",
     .when = "of_megatron"},
    {.name = "+actor_rollout_ref.actor.megatron.override_transformer_config.account_for_embedding_"
             "in_pipeline_split",
     .setting = "uneven_ends",
     .words = "1=True 0=False",
     .when = "of_megatron"},
    {.name = "+actor_rollout_ref.actor.megatron.override_transformer_config.account_for_loss_in_"
             "pipeline_split",
     .setting = "uneven_ends",
     .words = "1=True 0=False",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.sequence_parallel",
     .setting = "sp",
     .words = "0=False 1=True",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.expert_model_parallel_size",
     .setting = "ep",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.expert_tensor_parallel_size",
     .setting = "etp",
     .words = "* -=null",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.use_distributed_optimizer",
     .setting = "zero",
     .words = "0=False 1=True 3=True",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.use_megatron_fsdp",
     .setting = "zero",
     .words = "3=True 0=False 1=False",
     .use = NameUse::kImport},
    {.name = "+actor_rollout_ref.actor.megatron.override_ddp_config.num_distributed_optimizer_"
             "instances",
     .setting = "copies",
     .words = "1- *",
     .when = "of_megatron"},
    {.name = "+actor_rollout_ref.actor.megatron.override_ddp_config.overlap_grad_reduce",
     .words = "True",
     .use = NameUse::kExport,
     .when = "of_megatron"},
    {.name = "+actor_rollout_ref.actor.megatron.override_ddp_config.overlap_param_gather",
     .words = "True",
     .use = NameUse::kExport,
     .when = "gathers"},
    {.name = "actor_rollout_ref.actor.megatron.dtype",
     .setting = "dtype",
     .words = "bf16=bfloat16 fp16=float16",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity",
     .setting = "recompute",
     .words = "none=null selective full",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.recompute_method",
     .setting = "recompute_method",
     .words = "uniform block none=null",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.recompute_num_layers",
     .setting = "recompute_layers",
     .words = "1 1=null *",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.recompute_modules",
     .setting = "recompute_modules",
     .when = "of_megatron"},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.attention_backend",
     .setting = "attn",
     .words = "default=flash flash2=flash cudnn=fused fused_softmax=unfused default=auto auto",
     .when = "of_megatron"},
    {.name =
         "+actor_rollout_ref.actor.megatron.override_transformer_config.moe_token_dispatcher_type",
     .setting = "dispatcher",
     .words = "alltoall allgather deepep=flex"},
    {.name = "+actor_rollout_ref.actor.megatron.override_transformer_config.moe_enable_deepep",
     .setting = "dispatcher",
     .words = "deepep=True alltoall- allgather- alltoall=False allgather=False"},
    {.name = "+actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_cpu_offload",
     .setting = "offload_optimizer",
     .words = "0- 1=True 0=False",
     .when = "of_megatron"},
    {.name = "+actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_offload_fraction",
     .words = "1",
     .use = NameUse::kExport,
     .when = "offloads_optimizer"},
    {.name =
         "+actor_rollout_ref.actor.optim.override_optimizer_config.overlap_cpu_optimizer_d2h_h2d",
     .words = "True",
     .use = NameUse::kExport,
     .when = "offloads_optimizer"},
    {.name =
         "+actor_rollout_ref.actor.optim.override_optimizer_config.use_precision_aware_optimizer",
     .words = "True",
     .use = NameUse::kExport,
     .when = "offloads_optimizer"},
    {.name = "actor_rollout_ref.actor.optim.use_precision_aware_optimizer",
     .words = "True",
     .use = NameUse::kExport,
     .when = "moment_formats"},
    {.name = "actor_rollout_ref.actor.optim.main_grads_dtype",
     .setting = "state_grad",
     .words = "fp32 bf16"},
    {.name = "actor_rollout_ref.actor.optim.exp_avg_dtype",
     .setting = "state_m",
     .words = "fp32 bf16 fp16"},
    {.name = "actor_rollout_ref.actor.optim.exp_avg_sq_dtype",
     .setting = "state_v",
     .words = "fp32 bf16 fp16"},
    {.name = "actor_rollout_ref.model.use_fused_kernels",
     .setting = "loss",
     .words = "fused=True plain=False"},

    {.name = "--config-name",
     .setting = "engine",
     .words = "megatron=ppo_megatron_trainer megatron=ppo_megatron_trainer.yaml "
              "fsdp2=ppo_trainer fsdp2=ppo_trainer.yaml",
     .use = NameUse::kImport},
    {.name = "actor_rollout_ref.model.path", .setting = "model", .use = NameUse::kImport},
    {.name = "actor_rollout_ref.rollout.n", .setting = "samples", .use = NameUse::kImport},
    {.name = "actor_rollout_ref.actor.ulysses_sequence_parallel_size",
     .setting = "cp",
     .use = NameUse::kImport},
    {.name = "actor_rollout_ref.actor.use_dynamic_bsz",
     .words = "False",
     .effect = NameEffect::kRefused,
     .hint = "packs sequences by their lengths; an estimate has micro-batches of one size; must be "
             "False"},
    {.name = "actor_rollout_ref.actor.ppo_micro_batch_size",
     .words = "null",
     .effect = NameEffect::kRefused,
     .hint = "is of all devices; ppo_micro_batch_size_per_gpu says it of one"},
    {.name = "actor_rollout_ref.model.enable_activation_offload",
     .words = "False",
     .effect = NameEffect::kRefused,
     .hint = "offload=act:N of a layout says it"},
    {.name = "actor_rollout_ref.model.lora.rank",
     .words = "0",
     .effect = NameEffect::kRefused,
     .hint = kAdapters},
    {.name = "actor_rollout_ref.model.lora*", .hint = "the rank says whether there are adapters"},
    {.name = "actor_rollout_ref.model.tiled_mlp.enabled",
     .words = "False",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "actor_rollout_ref.model.*", .hint = kModels},
    {.name = "actor_rollout_ref.actor.fsdp_config.model_dtype",
     .words = "fp32",
     .effect = NameEffect::kRefused,
     .hint = "--states bf16 of estimate and recommend says it"},
    {.name = "actor_rollout_ref.actor.fsdp_config.wrap_policy.min_num_params",
     .words = "0",
     .effect = NameEffect::kRefused,
     .hint = "an estimate gathers one layer at a time; must be 0"},
    {.name = "actor_rollout_ref.actor.fsdp_config.param_offload", .hint = kBetweenPhases},
    {.name = "actor_rollout_ref.actor.fsdp_config.optimizer_offload", .hint = kBetweenPhases},
    {.name = "actor_rollout_ref.actor.fsdp_config.forward_prefetch", .hint = kGiven},
    {.name = "actor_rollout_ref.actor.fsdp_config.use_no_sync_for_gradient_accumulation",
     .words = "False",
     .effect = NameEffect::kRefused,
     .hint = "an estimate divides gradients after each micro-batch"},
    {.name = "actor_rollout_ref.actor.fsdp_config.*", .hint = "how the engine is made"},
    {.name = "actor_rollout_ref.actor.megatron.param_offload", .hint = kBetweenPhases},
    {.name = "actor_rollout_ref.actor.megatron.optimizer_offload", .hint = kBetweenPhases},
    {.name = "actor_rollout_ref.actor.megatron.grad_offload", .hint = kBetweenPhases},
    {.name = "actor_rollout_ref.actor.megatron.override_ddp_config.overlap_*", .hint = kGiven},
    {.name = "actor_rollout_ref.actor.megatron.override_ddp_config.grad_reduce_in_fp32",
     .words = "True",
     .effect = NameEffect::kRefused,
     .hint = "main_grads_dtype says the format of gradients"},
    {.name = "actor_rollout_ref.actor.megatron.override_ddp_config.*",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "actor_rollout_ref.actor.megatron.dynamic_context_parallel",
     .words = "False",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.fp8*",
     .words = "null",
     .effect = NameEffect::kRefused,
     .hint = "--dtype of estimate and recommend says it"},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.num_layers_in_*",
     .effect = NameEffect::kRefused,
     .hint = "pipeline_model_parallel_layout says the layers of stages"},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.cpu_offloading*",
     .effect = NameEffect::kRefused,
     .hint = "offload=act:N of a layout says it"},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.apply_rope_fusion",
     .hint = kGiven},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.masked_softmax_fusion",
     .hint = kGiven},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.bias_*", .hint = kGiven},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.gradient_accumulation_"
             "fusion",
     .hint = kGiven},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.moe_grouped_gemm",
     .hint = kGiven},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.moe_permute_fusion",
     .hint = kGiven},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.moe_router_*",
     .hint = kModels},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.moe_aux_loss_coeff",
     .hint = kModels},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.moe_z_loss_coeff",
     .hint = kModels},
    {.name = "actor_rollout_ref.actor.megatron.override_transformer_config.mtp_*", .hint = kModels},
    {.name = "actor_rollout_ref.actor.megatron.use_mbridge", .hint = "how weights are read"},
    {.name = "actor_rollout_ref.actor.megatron.vanilla_mbridge", .hint = "how weights are read"},
    {.name = "actor_rollout_ref.actor.megatron.use_dist_checkpointing", .hint = "checkpoints"},
    {.name = "actor_rollout_ref.actor.megatron.dist_c*", .hint = "checkpoints"},
    {.name = "actor_rollout_ref.actor.megatron.use_remove_padding",
     .hint = "an estimate has whole sequences"},
    {.name = "actor_rollout_ref.actor.megatron.pad_*", .hint = "an estimate has whole sequences"},
    {.name = "actor_rollout_ref.actor.megatron.entropy_*", .hint = "an entropy beside the loss"},
    {.name = "actor_rollout_ref.actor.megatron.seed", .hint = "the first weights"},
    {.name = "actor_rollout_ref.actor.megatron.router_replay*", .hint = "which experts are chosen"},
    {.name = "actor_rollout_ref.actor.optim.override_optimizer_config.optimizer_offload_fraction",
     .words = "1",
     .effect = NameEffect::kRefused,
     .hint = "an estimate moves all of the optimizer's states; must be 1"},
    {.name =
         "actor_rollout_ref.actor.optim.override_optimizer_config.overlap_cpu_optimizer_d2h_h2d",
     .hint = kGiven},
    {.name =
         "actor_rollout_ref.actor.optim.override_optimizer_config.use_precision_aware_optimizer",
     .hint = "the formats of the states say it"},
    {.name = "actor_rollout_ref.actor.optim.override_optimizer_config.*",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "actor_rollout_ref.actor.optim.use_precision_aware_optimizer",
     .hint = "the formats of the states say it"},
    {.name = "actor_rollout_ref.actor.optim.use_layer_wise_distributed_optimizer",
     .words = "False",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "actor_rollout_ref.actor.optim.optimizer",
     .words = "adam AdamW",
     .effect = NameEffect::kRefused,
     .hint = "--optimizer of estimate and recommend says it"},
    {.name = "actor_rollout_ref.actor.optim.*", .hint = "the optimizer's numbers"},
    {.name = "actor_rollout_ref.actor.qat.enable",
     .words = "False",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "actor_rollout_ref.actor.freeze_vision_tower",
     .words = "False",
     .effect = NameEffect::kRefused,
     .hint = "--train frozen:PARTS of estimate and recommend says it"},
    {.name = "actor_rollout_ref.actor.use_prefix_grouper",
     .words = "False",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "actor_rollout_ref.actor.ppo_epochs", .hint = "the length of the training"},
    {.name = "actor_rollout_ref.actor.*", .hint = "the loss of the policy"},
    {.name = "actor_rollout_ref.rollout.*", .hint = kPolicyAlone},
    {.name = "actor_rollout_ref.ref.*", .hint = kPolicyAlone},
    {.name = "actor_rollout_ref.hybrid_engine", .hint = kPolicyAlone},
    {.name = "actor_rollout_ref.nccl_timeout", .hint = "how ranks meet"},
    {.name = "critic.*", .hint = kPolicyAlone},
    {.name = "reward*", .hint = kPolicyAlone},
    {.name = "custom_reward_function.*", .hint = kPolicyAlone},
    {.name = "algorithm.*", .hint = "the loss of the policy"},
    {.name = "data.*", .hint = "data"},
    {.name = "trainer.*", .hint = "logs, checkpoints and the length of the training"},
    {.name = "global_profiler.*", .hint = "a profiler for a few steps"},
    {.name = "ray_kwargs.*", .hint = "how ranks meet"},
    {.name = "transfer_queue.*", .hint = "data"},
    {.name = "hydra*", .hint = "where logs are"},
    {.name = "--config-path", .hint = "where verl's files are"},
};

constexpr std::string_view kFsdpProfile = "verl";

bool IsOfFsdp(const Layout& layout) { return layout.zero >= 2; }

std::string_view VerlProfileOf(const Layout& layout) {
  return IsOfFsdp(layout) ? kFsdpProfile : "megatron-bridge";
}

absl::Status CheckFsdpEngine(const ExportJob& job) {
  const Layout& l = job.layout;
  const auto refuse = [&](std::string_view key, int64_t value) {
    return CannotExport(absl::StrCat(std::string(key), value),
                        absl::StrCat("verl's FSDP engine, which zero", l.zero,
                                     " needs, divides data and sequences alone; must be ",
                                     std::string(key), "1, or zero1 for its Megatron engine"));
  };
  if (l.tp > 1) return refuse("tp", l.tp);
  if (l.pp > 1) return refuse("pp", l.pp);
  if (l.ep > 1) return refuse("ep", l.ep);
  if (l.etp > 1) return refuse("etp", l.etp);
  if (l.offload.any() && (!l.offload.gradients || l.offload.activation_layers > 0)) {
    return CannotExport("offload=" + FormatOffload(l.offload),
                        "FSDP2's offload_policy moves weights and gradients as well; must be "
                        "opt+param+grad");
  }
  if (!(job.training.options.states == StateFormats())) {
    return FieldError("states", "(formats)",
                      "verl's FSDP engine keeps them in fp32; must be left out");
  }
  return absl::OkStatus();
}

absl::Status PrepareFsdpEngine(const ExportJob& job, Settings& settings) {
  RETURN_IF_ERROR(CheckFsdpEngine(job));
  settings.Set("engine", "fsdp2");
  settings.Remove("offloads_optimizer");
  settings.Set("of_fsdp", 1);
  const std::string targets = settings.TextOf("adapter_targets", "all-linear");
  if (targets != "all-linear") {
    settings.Set("adapter_targets",
                 absl::StrCat("[", absl::StrReplaceAll(targets, {{" ", ","}}), "]"));
  }
  settings.Set("offload_all", job.layout.offload.any() ? 1 : 0);
  settings.Remove("offload");
  return absl::OkStatus();
}

absl::Status PrepareMegatronEngine(const ExportJob& job, Settings& settings) {
  const Layout& l = job.layout;
  RETURN_IF_ERROR(PrepareMegatron(job, settings));
  if (job.training.options.train.adapter.exists()) {
    return FieldError(
        "train", TrainedPartsText(job.training.options.train),
        "is exported for verl's FSDP engine alone; must be full, or zero2 or zero3 in "
        "the layout");
  }
  settings.Set("engine", "megatron");
  settings.Set("of_megatron", 1);
  if (l.attention == AttentionKernel::kFlash1 || l.attention == AttentionKernel::kFlash3) {
    return CannotExport(absl::StrCat("attn=", std::string(AttentionKernelName(l.attention))),
                        "Transformer Engine takes the newest flash-attn that is installed; must be "
                        "left out");
  }
  if (l.norm == NormKernel::kEager) {
    return CannotExport("norm=eager", "Transformer Engine's norm is fused; must be left out");
  }
  if (l.offload.activation_layers > 0) {
    return CannotExport("offload=" + FormatOffload(l.offload),
                        "verl's Megatron engine moves the optimizer's states alone; must be opt");
  }
  if (settings.Find("hybrid_pattern") != nullptr) {
    return CannotExport(FormatLayout(l),
                        "verl reads the layers of a hybrid from its file; hybrids are not "
                        "exported");
  }
  if (l.zero == 0 && l.offload.optimizer) settings.Set("zero", 1);
  if (l.zero >= 1) settings.Set("gathers", 1);
  if (settings.Find("state_grad") != nullptr) settings.Set("moment_formats", 1);
  if (const std::string* modules = settings.Find("recompute_modules")) {
    settings.Set("recompute_modules",
                 absl::StrCat("[", absl::StrReplaceAll(*modules, {{" ", ","}}), "]"));
  }
  return absl::OkStatus();
}

absl::Status PrepareVerl(const ExportJob& job, Settings& settings) {
  const NodePlacement placed = PlacementOf(job);
  if (!placed.fills_last()) {
    return FieldError("gpus_per_node", job.devices_per_node,
                      absl::StrCat("verl takes as many devices of every node; must divide the ",
                                   job.layout.devices(), " of the layout"));
  }
  settings.Set("prompt_tokens", job.training.seq_len / 2);
  settings.Set("answer_tokens", job.training.seq_len - job.training.seq_len / 2);
  return IsOfFsdp(job.layout) ? PrepareFsdpEngine(job, settings)
                              : PrepareMegatronEngine(job, settings);
}

// The defaults of the Megatron engine differ from those of FSDP.
absl::Status ResolveMegatronEngine(Settings& settings) {
  settings.Remove("rc");  // enable_gradient_checkpointing is of the FSDP engine
  if (settings.Find("zero") == nullptr) settings.Set("zero", 1);
  const bool divides_products = settings.CountOf("tp").value_or(1) > 1;
  if (settings.Find("sp") == nullptr || !divides_products) {
    settings.Set("sp", divides_products ? 1 : 0);
  }
  if (settings.TextOf("etp", "-") == "-") settings.Remove("etp");
  if (settings.TextOf("vpp", "1") == "1") settings.Remove("vpp");
  if (const std::string* modules = settings.Find("recompute_modules")) {
    settings.Set("recompute_modules",
                 absl::StrReplaceAll(*modules, {{"[", ""}, {"]", ""}, {", ", " "}, {",", " "}}));
  }
  return ResolveMegatron(settings);
}

absl::Status ResolveVerl(Settings& settings) {
  const auto prompt = settings.CountOf("prompt_tokens");
  const auto answer = settings.CountOf("answer_tokens");
  if (settings.Find("seq_len") == nullptr && prompt && answer) {
    settings.Set("seq_len", *prompt + *answer);
  }
  const auto batch = settings.CountOf("global_batch");
  if (const auto samples = settings.CountOf("samples"); batch && samples) {
    if (*batch > kMostCounted / *samples) {
      return FieldError("samples", *samples,
                        absl::StrCat("makes more than ", kMostCounted, " sequences"));
    }
    settings.Set("global_batch", *batch * *samples);
  }
  if (settings.TextOf("engine", "fsdp2") == "megatron") return ResolveMegatronEngine(settings);
  if (settings.CountOf("adapter_rank")) settings.Set("uses_adapter", 1);
  if (settings.Find("zero") == nullptr) settings.Set("zero", 3);
  if (settings.Find("rc") == nullptr) settings.Set("rc", "full");
  return absl::OkStatus();
}

absl::StatusOr<ExportedJob> ExportVerl(const ExportJob& job, const Settings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> spellings, SpellAll(kVerlOverrides, settings));
  ExportedJob exported;
  exported.launcher = RankLauncher::kRay;
  exported.program = {"python3", "-m", "verl.trainer.main_ppo"};
  exported.comments = {
      absl::StrCat(job.model.name, " as ", FormatLayout(job.layout)),
      absl::StrCat("on ", job.layout.devices(),
                   " devices with verl: the update of the policy. Model, data, rollout, rewards "
                   "and learning rate"),
      "are yours: pass their overrides to this script. Where rollout.n is above 1,",
      "ppo_mini_batch_size is its part of the batch. A prompt and its answer have half of the "
      "tokens each."};
  exported.comments.insert(exported.comments.end(), job.notes.begin(), job.notes.end());
  for (const Spelling& spelling : spellings) {
    std::string value = spelling.value;
    if (value.find_first_of("|()*") != std::string::npos) value = absl::StrCat("'", value, "'");
    exported.argument_lines.push_back({absl::StrCat(std::string(spelling.row->name), "=", value)});
  }
  return exported;
}

}  // namespace

const Framework& VerlFramework() {
  static const Framework framework = {.name = "verl",
                                      .release = "0.9",
                                      .profile = "megatron-bridge",
                                      .profile_of = VerlProfileOf,
                                      .lacks = "verl has no override for",
                                      .tables = {kVerlOverrides, LauncherNames(), NameTable()},
                                      .implied = "dp sched",
                                      .defaults = "dtype=bf16 nodes=1 gpus_per_node=8",
                                      .loads_models = true,
                                      .precisions = {Precision::kBf16, Precision::kFp16},
                                      .prepare = PrepareVerl,
                                      .write = ExportVerl,
                                      .resolve = ResolveVerl};
  return framework;
}

}  // namespace meshwright::planner

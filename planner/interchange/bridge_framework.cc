// Megatron-Bridge's overrides of its ConfigContainer, as in megatron/bridge/training/config.py of
// release 0.6, whose fields are mostly those of Megatron-Core's dataclasses.
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text/status_macros.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/megatron_arithmetic.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kRunRecipe = "scripts/training/run_recipe.py";

constexpr NameRow kBridgeOverrides[] = {
    {.name = "model.tensor_model_parallel_size", .setting = "tp"},
    {.name = "model.pipeline_model_parallel_size", .setting = "pp"},
    {.name = "model.context_parallel_size", .setting = "cp"},
    {.name = "model.virtual_pipeline_model_parallel_size", .setting = "vpp", .words = "1=null *"},
    {.name = "model.pipeline_model_parallel_layout", .setting = "pipeline_layout"},
    {.name = "model.hybrid_layer_pattern", .setting = "hybrid_pattern", .use = NameUse::kExport},
    {.name = "model.account_for_embedding_in_pipeline_split",
     .setting = "uneven_ends",
     .words = "1=true 0=false"},
    {.name = "model.account_for_loss_in_pipeline_split",
     .setting = "uneven_ends",
     .words = "1=true 0=false"},
    {.name = "model.sequence_parallel", .setting = "sp", .words = "0=false 1=true"},
    {.name = "model.expert_model_parallel_size", .setting = "ep", .when = "num_experts"},
    {.name = "model.expert_tensor_parallel_size", .setting = "etp", .when = "num_experts"},
    {.name = "train.micro_batch_size", .setting = "mb"},
    {.name = "train.global_batch_size", .setting = "global_batch"},
    {.name = "model.seq_length", .setting = "seq_len"},
    {.name = "dataset.seq_length", .setting = "seq_len"},
    {.name = "dist.use_megatron_fsdp",
     .setting = "zero",
     .words = "0- 0=false 1- 1=false 2=true 3=true"},
    {.name = "ddp.use_megatron_fsdp",
     .setting = "zero",
     .words = "0- 0=false 1- 1=false 2=true 3=true"},
    {.name = "ddp.data_parallel_sharding_strategy",
     .setting = "zero",
     .words = "0- 1- 2=optim_grads 3=optim_grads_params"},
    {.name = "ddp.use_distributed_optimizer",
     .setting = "zero",
     .words = "0=false 1=true 2=true 3=true"},
    {.name = "optimizer.use_distributed_optimizer",
     .setting = "zero",
     .words = "0=false 1=true 2=true 3=true"},
    {.name = "ddp.overlap_grad_reduce",
     .words = "true",
     .use = NameUse::kExport,
     .when = "overlap"},
    {.name = "ddp.overlap_param_gather",
     .words = "true",
     .use = NameUse::kExport,
     .when = "divided"},
    {.name = "ddp.num_distributed_optimizer_instances", .setting = "copies", .words = "1- *"},
    {.name = "ddp.outer_dp_sharding_strategy",
     .words = "no_shard",
     .use = NameUse::kExport,
     .when = "sharded_copies"},
    {.name = "model.gradient_accumulation_fusion",
     .words = "false",
     .use = NameUse::kExport,
     .when = "sharded"},
    {.name = "checkpoint.ckpt_format",
     .words = "fsdp_dtensor",
     .use = NameUse::kExport,
     .when = "sharded"},
    {.name = "model.recompute_granularity",
     .setting = "recompute",
     .words = "none=null selective full"},
    {.name = "model.recompute_method",
     .setting = "recompute_method",
     .words = "uniform block none=null"},
    {.name = "model.recompute_num_layers", .setting = "recompute_layers", .words = "1 1=null *"},
    {.name = "model.recompute_modules", .setting = "recompute_modules"},
    {.name = "model.cpu_offloading",
     .words = "true",
     .use = NameUse::kExport,
     .when = "offload_layers"},
    {.name = "model.cpu_offloading_num_layers", .setting = "offload_layers"},
    {.name = "optimizer.optimizer_cpu_offload",
     .setting = "offload_optimizer",
     .words = "0- 1=true 0=false"},
    {.name = "optimizer.optimizer_offload_fraction",
     .words = "1.0",
     .use = NameUse::kExport,
     .when = "offloads_optimizer"},
    {.name = "optimizer.overlap_cpu_optimizer_d2h_h2d",
     .words = "true",
     .use = NameUse::kExport,
     .when = "offloads_optimizer"},
    {.name = "optimizer.use_precision_aware_optimizer",
     .words = "true",
     .use = NameUse::kExport,
     .when = "offloads_optimizer"},
    {.name = "optimizer.optimizer", .setting = "optimizer", .words = "adamw=adam sgd muon"},
    {.name = "model.attention_backend",
     .setting = "attn",
     .words = "default=flash flash2=flash cudnn=fused fused_softmax=unfused default=auto auto"},
    {.name = "mixed_precision",
     .setting = "dtype",
     .words = "bf16=bf16_mixed bf16=bf16-mixed fp16=fp16_mixed fp16=fp16-mixed fp16=16-mixed "
              "fp8-delayed=bf16_with_fp8_delayed_scaling_mixed "
              "fp8-current=bf16_with_fp8_current_scaling_mixed "
              "fp8-blockwise=bf16_with_fp8_subchannel_scaling_mixed mxfp8=bf16_with_mxfp8_mixed "
              "nvfp4=bf16_with_nvfp4_mixed"},
    {.name = "ddp.grad_reduce_in_fp32", .setting = "state_grad", .words = "bf16=false fp32=true"},
    {.name = "model.cuda_graph_impl",
     .setting = "cuda_graphs",
     .words = "none attention=transformer_engine layer=transformer_engine layer=local "
              "iteration=full_iteration"},
    {.name = "model.cuda_graph_modules",
     .setting = "cuda_graphs",
     .words = "attention=[attn] none- layer- iteration-"},
    {.name = "rerun_state_machine.check_for_nan_in_loss",
     .setting = "cuda_graphs",
     .words = "iteration=false none- attention- layer-",
     .use = NameUse::kExport},
    {.name = "model.moe_token_dispatcher_type",
     .setting = "dispatcher",
     .words = "alltoall allgather deepep=flex hybridep=flex"},
    {.name = "model.moe_flex_dispatcher_backend",
     .setting = "dispatcher",
     .words = "deepep hybridep alltoall- allgather-"},

    // A saved configuration has the sections that names of recipes stand for.
    {.name = "mixed_precision.bf16",
     .setting = "dtype",
     .words =
         "bf16=true fp8-delayed=true fp8-current=true fp8-blockwise=true mxfp8=true nvfp4=true "
         "fp16=false fp32=false",
     .use = NameUse::kImport},
    {.name = "mixed_precision.fp16",
     .setting = "dtype",
     .words = "fp16=true bf16=false fp8-delayed=false fp8-current=false fp8-blockwise=false "
              "mxfp8=false nvfp4=false fp32=false",
     .use = NameUse::kImport},
    {.name = "mixed_precision.fp8",
     .setting = "dtype",
     .words = "bf16=null fp16=null fp32=null nvfp4=null fp8-delayed=hybrid fp8-current=hybrid "
              "fp8-blockwise=hybrid mxfp8=hybrid fp8-delayed=e4m3 fp8-current=e4m3 "
              "fp8-blockwise=e4m3 mxfp8=e4m3",
     .use = NameUse::kImport},
    {.name = "mixed_precision.fp8_recipe",
     .setting = "dtype",
     .words =
         "bf16=tensorwise fp16=tensorwise fp32=tensorwise nvfp4=tensorwise fp8-delayed=delayed "
         "fp8-current=tensorwise fp8-blockwise=blockwise mxfp8",
     .use = NameUse::kImport},
    {.name = "mixed_precision.grad_reduce_in_fp32",
     .setting = "state_grad",
     .words = "bf16=false fp32=true",
     .use = NameUse::kImport},
    {.name = "mixed_precision.fp8_param*",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "mixed_precision.fp4*",
     .words = "null",
     .effect = NameEffect::kRefused,
     .hint = "not imported; set mixed_precision=bf16_with_nvfp4_mixed instead"},
    {.name = "mixed_precision.*", .hint = "follows from the number format of the matrix products"},
    {.name = "model.attention_backend._args_",
     .setting = "attn",
     .words = "default=1 flash2=1 cudnn=2 fused_softmax=3 default=5 auto=5",
     .use = NameUse::kImport,
     .of = "a saved run_config.yaml"},
    {.name = "model.num_layers", .setting = "layers", .use = NameUse::kImport},
    {.name = "model.hidden_size", .setting = "hidden", .use = NameUse::kImport},
    {.name = "model.ffn_hidden_size", .setting = "ffn", .use = NameUse::kImport},
    {.name = "model.num_attention_heads", .setting = "heads", .use = NameUse::kImport},
    {.name = "model.num_query_groups", .setting = "kv_heads", .use = NameUse::kImport},
    {.name = "model.num_moe_experts", .setting = "num_experts", .use = NameUse::kImport},

    {.name = "ddp.overlap_grad_reduce",
     .words = "true",
     .effect = NameEffect::kRefused,
     .hint = "the planner models gradient reduction that overlaps compute; must be true"},
    {.name = "ddp.overlap_param_gather",
     .words = "true",
     .effect = NameEffect::kRefused,
     .hint = "the planner models weight gathers that overlap compute; must be true"},
    {.name = "ddp.outer_dp_sharding_strategy",
     .words = "no_shard",
     .effect = NameEffect::kRefused,
     .hint = "the planner models full replicas across the outer data-parallel groups; must be "
             "no_shard"},
    {.name = "model.gradient_accumulation_fusion", .hint = kGiven},
    {.name = "model.hidden_dropout",
     .words = "0",
     .effect = NameEffect::kRefused,
     .hint = "the planner models training without dropout; must be 0"},
    {.name = "model.attention_dropout",
     .words = "0",
     .effect = NameEffect::kRefused,
     .hint = "the planner models training without dropout; must be 0"},
    {.name = "model.normalization", .hint = kModels},
    {.name = "model.layernorm_*", .hint = kModels},
    {.name = "model.activation_func*", .hint = kModels},
    {.name = "model.gated_linear_unit", .hint = kModels},
    {.name = "model.position_embedding_type", .hint = kModels},
    {.name = "model.rotary_*", .hint = kModels},
    {.name = "model.rope_*", .hint = kModels},
    {.name = "model.add_bias_linear", .hint = kModels},
    {.name = "model.add_qkv_bias", .hint = kModels},
    {.name = "model.qk_*", .hint = kModels},
    {.name = "model.kv_channels", .hint = kModels},
    {.name = "model.share_embeddings_and_output_weights", .hint = kModels},
    {.name = "model.init_method*", .hint = "the initial weights"},
    {.name = "model.output_layer_init_method*", .hint = "the initial weights"},
    {.name = "model.vocab_size", .hint = kModels},
    {.name = "model.make_vocab_size_divisible_by", .hint = kModels},
    {.name = "model.moe_router_*", .hint = kModels},
    {.name = "model.moe_ffn_hidden_size", .hint = kModels},
    {.name = "model.moe_layer_freq", .hint = kModels},
    {.name = "model.moe_shared_expert_intermediate_size", .hint = kModels},
    {.name = "model.moe_aux_loss_coeff", .hint = kModels},
    {.name = "model.moe_z_loss_coeff", .hint = kModels},
    {.name = "model.moe_grouped_gemm", .hint = kGiven},
    {.name = "model.moe_permute_fusion", .hint = kGiven},
    {.name = "model.mtp_*", .hint = kModels},
    {.name = "model.bias_*", .hint = kGiven},
    {.name = "model.masked_softmax_fusion", .hint = kGiven},
    {.name = "model.apply_rope_fusion", .hint = kGiven},
    {.name = "model.cross_entropy_*", .hint = kGiven},
    {.name = "model.persist_layer_norm", .hint = kGiven},
    {.name = "model.generation_config*",
     .hint = "not part of training",
     .of = "a saved run_config.yaml"},
    {.name = "model.hf_model_id", .hint = "where the model is from"},
    {.name = "model.params_dtype*", .hint = "set by mixed_precision"},
    {.name = "model.pipeline_dtype*", .hint = "set by mixed_precision"},
    {.name = "model.autocast_dtype*", .hint = "set by mixed_precision"},
    {.name = "model.bf16", .hint = "set by mixed_precision"},
    {.name = "model.fp16", .hint = "set by mixed_precision"},
    {.name = "model.cpu_offloading", .hint = "follows from the number of offloaded layers"},
    {.name = "optimizer.optimizer_offload_fraction",
     .words = "1.0",
     .effect = NameEffect::kRefused,
     .hint = "the planner models offload of all optimizer states; must be 1.0"},
    {.name = "optimizer.overlap_cpu_optimizer_d2h_h2d", .hint = kGiven},
    {.name = "optimizer.use_precision_aware_optimizer",
     .hint = "follows from the formats of the optimizer's states"},
    {.name = "comm_overlap*", .effect = NameEffect::kRefused, .hint = kUnplanned},
    {.name = "peft*",
     .effect = NameEffect::kRefused,
     .hint = "adapters of Megatron-Bridge are not imported; pass --train to estimate or recommend "
             "instead"},
    {.name = "--mode",
     .words = "pretrain sft",
     .effect = NameEffect::kRefused,
     .hint = "adapters of Megatron-Bridge are not imported; pass --train to estimate or recommend "
             "instead",
     .of = kRunRecipe},
    {.name = "train.rampup_batch_size",
     .effect = NameEffect::kRefused,
     .hint = "the planner models a constant global batch; must be absent"},
    {.name = "--recipe", .hint = "the recipe's model is given by --model", .of = kRunRecipe},
    {.name = "--dataset", .hint = "data"},
    {.name = "--step-func", .hint = "data", .of = kRunRecipe},
    {.name = "--hf-path", .hint = "data", .of = kRunRecipe},
    {.name = "dataset.*", .hint = "data"},
    {.name = "tokenizer.*", .hint = "data"},
    {.name = "train.train_*", .hint = "the length of the training"},
    {.name = "train.exit_*", .hint = "the length of the training"},
    {.name = "train.eval_*", .hint = "evaluation"},
    {.name = "train.manual_gc*", .hint = "Python's garbage collection"},
    {.name = "validation.*", .hint = "evaluation"},
    {.name = "rerun_state_machine.*", .hint = "checks of the loss"},
    {.name = "scheduler.*", .hint = "the learning rate"},
    {.name = "optimizer.lr", .hint = "the learning rate"},
    {.name = "optimizer.min_lr", .hint = "the learning rate"},
    {.name = "optimizer.weight_decay", .hint = "the optimizer's hyperparameters"},
    {.name = "optimizer.adam_*", .hint = "the optimizer's hyperparameters"},
    {.name = "optimizer.clip_grad", .hint = "the optimizer's hyperparameters"},
    {.name = "checkpoint.*", .hint = "checkpoints"},
    {.name = "logger.*", .hint = "logs"},
    {.name = "profiling.*", .hint = "a profiler for a few steps"},
    {.name = "rng.*", .hint = "the initial weights"},
    {.name = "dist.distributed_*", .hint = "how process groups are set up"},
};

// Hydra writes lists in brackets.
absl::Status PrepareBridge(const ExportJob& job, Settings& settings) {
  RETURN_IF_ERROR(PrepareMegatron(job, settings));
  RETURN_IF_ERROR(CheckFlashRelease(job.layout));
  if (job.layout.zero == 0 && job.layout.offload.optimizer) settings.Set("zero", 1);
  if (const std::string* modules = settings.Find("recompute_modules")) {
    settings.Set("recompute_modules",
                 absl::StrCat("[", absl::StrReplaceAll(*modules, {{" ", ","}}), "]"));
  }
  return absl::OkStatus();
}

absl::Status ResolveBridge(Settings& settings) {
  if (const std::string* modules = settings.Find("recompute_modules")) {
    if (*modules == "null") {
      settings.Remove("recompute_modules");
    } else {
      settings.Set("recompute_modules",
                   absl::StrReplaceAll(*modules, {{"[", ""}, {"]", ""}, {", ", " "}, {",", " "}}));
    }
  }
  return ResolveMegatron(settings);
}

// Returns an override as one argument, whose value Hydra reads as a text.
std::string Override(const Spelling& spelling) {
  std::string value = spelling.value;
  if (value.find_first_of("|()*") != std::string::npos) value = absl::StrCat("'", value, "'");
  return absl::StrCat(std::string(spelling.row->name), "=", value);
}

absl::StatusOr<ExportedJob> ExportBridge(const ExportJob& job, const Settings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> spellings, SpellAll(kBridgeOverrides, settings));
  ExportedJob exported;
  exported.program = {"scripts/training/run_recipe.py"};
  exported.asked = {{"--recipe", "RECIPE", "names the recipe of the model"}};
  exported.comments = {
      absl::StrCat(job.model.name, " as ", FormatLayout(job.layout)),
      absl::StrCat("on ", job.layout.devices(),
                   " devices with Megatron-Bridge. RECIPE names the recipe of the model. Data, "
                   "learning rate and"),
      "checkpoints are yours: pass their overrides to this script."};
  exported.comments.insert(exported.comments.end(), job.notes.begin(), job.notes.end());
  if (job.layout.norm == NormKernel::kEager) {
    exported.comments.push_back(
        "norm=eager: Transformer Engine's norm is fused, so this run is faster and smaller than "
        "estimated.");
  }
  for (const Spelling& spelling : spellings) {
    exported.argument_lines.push_back({Override(spelling)});
  }
  return exported;
}

}  // namespace

const Framework& BridgeFramework() {
  static const Framework framework = {
      .name = "megatron-bridge",
      .release = "0.6",
      .profile = "megatron-bridge",
      .further_profiles =
          "nemo nemo-graphs nemo-graphs-26.06.01 nemo-hybridep nemo-hybrids nemo-untuned "
          "nemo-untuned-deepep",
      .lacks = "Megatron-Bridge has no override for",
      .tables = {kBridgeOverrides, LauncherNames(), NameTable()},
      .implied = "dp sched norm",
      .needed = "tp pp cp vpp mb sp zero recompute",
      .loads_models = true,
      .precisions = {Precision::kBf16, Precision::kFp16, Precision::kFp8Delayed,
                     Precision::kFp8Current, Precision::kFp8Blockwise, Precision::kMxfp8,
                     Precision::kNvfp4},
      .prepare = PrepareBridge,
      .write = ExportBridge,
      .resolve = ResolveBridge};
  return framework;
}

}  // namespace meshwright::planner

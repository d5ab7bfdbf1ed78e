// ms-swift's Megatron arguments (`megatron sft`), as in swift/megatron/arguments of release 4.6.
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/megatron_arithmetic.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kBefore4 = "ms-swift before 4";

constexpr NameRow kSwiftArguments[] = {
    {.name = "--tensor_model_parallel_size", .setting = "tp"},
    {.name = "--pipeline_model_parallel_size", .setting = "pp", .joins = true},
    {.name = "--context_parallel_size", .setting = "cp", .joins = true},
    {.name = "--virtual_pipeline_model_parallel_size", .setting = "vpp", .words = "1- *"},
    {.name = "--pipeline_model_parallel_layout", .setting = "pipeline_layout", .quoted = true},
    {.name = "--account_for_embedding_in_pipeline_split",
     .setting = "uneven_ends",
     .words = "1=true 0=false"},
    {.name = "--account_for_loss_in_pipeline_split",
     .setting = "uneven_ends",
     .words = "1=true 0=false",
     .joins = true},
    {.name = "--sequence_parallel", .setting = "sp", .words = "0- 0=false 1=true 1="},
    {.name = "--expert_model_parallel_size", .setting = "ep", .when = "num_experts"},
    {.name = "--expert_tensor_parallel_size",
     .setting = "etp",
     .when = "num_experts",
     .joins = true},
    {.name = "--use_megatron_fsdp",
     .setting = "zero",
     .words = "0- 0=false 1- 1=false 2=true 3=true"},
    {.name = "--data_parallel_sharding_strategy",
     .setting = "zero",
     .words = "0- 1- 2=optim_grads 3=optim_grads_params",
     .joins = true},
    {.name = "--use_distributed_optimizer",
     .setting = "zero",
     .words = "0=false 1=true 1- 2=true 2- 3=true 3-"},
    {.name = "--overlap_grad_reduce",
     .words = "true",
     .use = NameUse::kExport,
     .when = "overlap",
     .joins = true},
    {.name = "--overlap_param_gather",
     .words = "true",
     .use = NameUse::kExport,
     .when = "divided",
     .joins = true},
    {.name = "--micro_batch_size", .setting = "mb"},
    {.name = "--global_batch_size", .setting = "global_batch", .joins = true},
    {.name = "--max_length", .setting = "seq_len", .joins = true},
    {.name = "--recompute_granularity",
     .setting = "recompute",
     .words = "none selective selective- full"},
    {.name = "--recompute_method",
     .setting = "recompute_method",
     .words = "none- uniform block",
     .joins = true},
    {.name = "--recompute_num_layers", .setting = "recompute_layers", .joins = true},
    {.name = "--recompute_modules", .setting = "recompute_modules", .joins = true},
    {.name = "--optimizer_cpu_offload",
     .setting = "offload_optimizer",
     .words = "0- 0=false 1=true"},
    {.name = "--use_precision_aware_optimizer",
     .words = "true",
     .use = NameUse::kExport,
     .when = "offloads_optimizer",
     .joins = true},
    {.name = "--attention_backend",
     .setting = "attn",
     .words = "default=flash flash2=flash cudnn=fused fused_softmax=unfused default=auto auto"},
    {.name = "--fp16",
     .setting = "dtype",
     .words = "fp16=true bf16- fp32- fp8-delayed- fp8-current- fp8-blockwise- mxfp8- nvfp4-"},
    {.name = "--bf16",
     .setting = "dtype",
     .words = "bf16=true bf16- fp8-delayed=true fp8-delayed- fp8-current=true fp8-current- "
              "fp8-blockwise=true fp8-blockwise- mxfp8=true mxfp8- nvfp4=true nvfp4- fp16- fp32-"},
    {.name = "--fp8_format",
     .setting = "dtype",
     .words = "fp8-delayed=hybrid fp8-current=hybrid fp8-blockwise=hybrid mxfp8=hybrid "
              "fp8-delayed=e4m3 fp8-current=e4m3 fp8-blockwise=e4m3 mxfp8=e4m3 bf16- fp16- fp32- "
              "nvfp4-"},
    {.name = "--fp8_recipe",
     .setting = "dtype",
     .words = "fp8-delayed=delayed fp8-current=tensorwise fp8-blockwise=blockwise mxfp8 bf16- "
              "fp16- fp32- nvfp4-",
     .joins = true},
    {.name = "--fp4_format",
     .setting = "dtype",
     .words = "nvfp4=e2m1 bf16- fp16- fp32- fp8-delayed- fp8-current- fp8-blockwise- mxfp8-"},
    {.name = "--use_precision_aware_optimizer",
     .words = "true",
     .use = NameUse::kExport,
     .when = "moment_formats"},
    {.name = "--main_params_dtype", .setting = "state_master", .words = "fp32 fp16", .joins = true},
    {.name = "--exp_avg_dtype", .setting = "state_m", .words = "fp32 fp16 bf16 fp8", .joins = true},
    {.name = "--exp_avg_sq_dtype",
     .setting = "state_v",
     .words = "fp32 fp16 bf16 fp8",
     .joins = true},
    {.name = "--moe_token_dispatcher_type", .setting = "dispatcher", .words = "alltoall allgather"},
    {.name = "--tuner_type", .setting = "adapter", .words = "lora full"},
    {.name = "--lora_rank", .setting = "adapter_rank", .joins = true},
    {.name = "--target_modules", .setting = "adapter_targets", .joins = true},

    {.name = "--model", .setting = "model", .use = NameUse::kImport},
    {.name = "--train_type",
     .setting = "adapter",
     .words = "lora full",
     .use = NameUse::kImport,
     .of = kBefore4},
    {.name = "--lora_alpha", .hint = "the adapters' scaling factor"},
    {.name = "--lora_dropout", .hint = "the planner does not model dropout in adapters"},
    {.name = "--lora_*", .effect = NameEffect::kRefused, .hint = kAdapters},
    {.name = "--freeze_*",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = "not imported; pass --train frozen:PARTS to `estimate` or `recommend` instead"},
    {.name = "--optimizer", .setting = "optimizer", .words = "adamw=adam sgd muon"},
    {.name = "--optimizer_offload_fraction",
     .words = "1",
     .effect = NameEffect::kRefused,
     .hint = "the planner models offload of all optimizer states; must be 1"},
    {.name = "--fp8_param_gather",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "--tp_comm_overlap",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "--moe_shared_expert_overlap",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "--moe_enable_deepep",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = "not imported; pass --dispatcher deepep to `estimate` or `recommend` instead"},
    {.name = "--decoder_*",
     .effect = NameEffect::kRefused,
     .hint = "not imported; give the layers of each stage with --pipeline_model_parallel_layout "
             "instead"},
    {.name = "--overlap_grad_reduce", .hint = kGiven},
    {.name = "--overlap_param_gather", .hint = kGiven},
    {.name = "--cross_entropy_*", .hint = kGiven},
    {.name = "--use_precision_aware_optimizer",
     .hint = "follows from the formats of the optimizer's states"},
    {.name = "--moe_grouped_gemm", .hint = kGiven},
    {.name = "--moe_permute_fusion", .hint = kGiven},
    {.name = "--moe_aux_loss_coeff", .hint = kModels},
    {.name = "--moe_z_loss_coeff", .hint = kModels},
    {.name = "--moe_expert_capacity_factor", .hint = kModels},
    {.name = "--moe_router_*", .hint = kModels},
    {.name = "--mtp_*", .hint = kModels},
    {.name = "--model_type", .hint = kModels},
    {.name = "--use_hf", .hint = "where the model is from"},
    {.name = "--packing", .hint = "every estimate is for sequences of full length"},
    {.name = "--padding_free", .hint = "every estimate is for sequences of full length"},
    {.name = "--lr*", .hint = "the learning rate"},
    {.name = "--min_lr", .hint = "the learning rate"},
    {.name = "--weight_decay*", .hint = "the optimizer's hyperparameters"},
    {.name = "--adam_*", .hint = "the optimizer's hyperparameters"},
    {.name = "--clip_grad", .hint = "the optimizer's hyperparameters"},
    {.name = "--train_iters", .hint = "the length of the training"},
    {.name = "--max_epochs", .hint = "the length of the training", .of = kBefore4},
    {.name = "--num_train_epochs", .hint = "the length of the training"},
    {.name = "--dataset*", .hint = "data"},
    {.name = "--val_dataset*", .hint = "data"},
    {.name = "--cached_*", .hint = "data"},
    {.name = "--split_dataset_ratio", .hint = "data"},
    {.name = "--load_from_cache_file", .hint = "data"},
    {.name = "--dataloader_*", .hint = "data"},
    {.name = "--num_workers", .hint = "data", .of = kBefore4},
    {.name = "--streaming", .hint = "data"},
    {.name = "--system", .hint = "data"},
    {.name = "--logging_*", .hint = "logs"},
    {.name = "--log_interval", .hint = "logs", .of = kBefore4},
    {.name = "--report_to", .hint = "logs"},
    {.name = "--tensorboard_*", .hint = "logs"},
    {.name = "--wandb_*", .hint = "logs"},
    {.name = "--eval_*", .hint = "evaluation"},
    {.name = "--save*", .hint = "checkpoints"},
    {.name = "--load_safetensors", .hint = "checkpoints", .of = kBefore4},
    {.name = "--output_dir", .hint = "checkpoints"},
    {.name = "--finetune", .hint = "checkpoints"},
    {.name = "--no_save_*", .hint = "checkpoints"},
    {.name = "--no_load_*", .hint = "checkpoints"},
    {.name = "--async_save", .hint = "checkpoints"},
    {.name = "--mcore_model", .hint = "checkpoints"},
    {.name = "--seed", .hint = "the initial weights"},
};

absl::Status PrepareSwift(const ExportJob& job, Settings& settings) {
  RETURN_IF_ERROR(PrepareMegatron(job, settings));
  const Layout& l = job.layout;
  RETURN_IF_ERROR(CheckFlashRelease(l));
  if (l.offload.activation_layers > 0) {
    return CannotExport("offload=" + FormatOffload(l.offload),
                        "ms-swift offloads only the optimizer's states; must be opt");
  }
  if (settings.Find("hybrid_pattern") != nullptr) {
    return CannotExport(FormatLayout(l),
                        "ms-swift reads the layers of a hybrid from its file; "
                        "hybrids are not exported");
  }
  if (l.zero == 0 && l.offload.optimizer) settings.Set("zero", 1);
  return absl::OkStatus();
}

absl::StatusOr<ExportedJob> ExportSwift(const ExportJob& job, const Settings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> arguments, SpellAll(kSwiftArguments, settings));
  ExportedJob exported;
  exported.launcher = RankLauncher::kProgram;
  exported.program = {"megatron", "sft"};
  exported.asked = {{"--model", "MODEL", "names the model"}};
  exported.argument_lines = FlagLines(kSwiftArguments, arguments);
  exported.comments = {
      absl::StrCat(job.model.name, " as ", FormatLayout(job.layout)),
      absl::StrCat("on ", job.layout.devices(),
                   " devices with ms-swift. MODEL names the model. Data, learning rate and "
                   "checkpoints are yours:"),
      "pass their arguments to this script."};
  exported.comments.insert(exported.comments.end(), job.notes.begin(), job.notes.end());
  return exported;
}

}  // namespace

const Framework& SwiftFramework() {
  static const Framework framework = {
      .name = "ms-swift",
      .release = "4.6",
      .profile = "ms-swift",
      .lacks = "ms-swift has no argument for",
      .tables = {kSwiftArguments, LauncherNames(), NameTable()},
      .implied = "dp sched norm",
      .defaults = "mb=1 global_batch=16 etp=1",
      .loads_models = true,
      .precisions = {Precision::kBf16, Precision::kFp16, Precision::kFp8Delayed,
                     Precision::kFp8Current, Precision::kFp8Blockwise, Precision::kMxfp8,
                     Precision::kNvfp4},
      .prepare = PrepareSwift,
      .write = ExportSwift,
      .resolve = ResolveMegatron};
  return framework;
}

}  // namespace meshwright::planner

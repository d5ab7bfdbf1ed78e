// Axolotl's YAML, with keys as in src/axolotl/utils/schemas of release 0.19.
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/interchange/file_export.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/hugging_face.h"
#include "planner/interchange/yaml_text.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kLiger = "[axolotl.integrations.liger.LigerPlugin]";

constexpr NameRow kAxolotlKeys[] = {
    {.name = "micro_batch_size", .setting = "mb"},
    {.name = "gradient_accumulation_steps", .setting = "accumulation"},
    {.name = "sequence_len", .setting = "seq_len"},
    {.name = "dp_replicate_size", .setting = "copies", .when = "sharded"},
    {.name = "dp_shard_size", .setting = "shards", .when = "sharded"},
    {.name = "tensor_parallel_size", .setting = "tp", .when = "sharded"},
    {.name = "context_parallel_size", .setting = "cp", .when = "sharded"},
    {.name = "fsdp_version", .setting = "zero", .words = "3=2 2=2 0- alone-", .when = "sharded"},
    {.name = "fsdp_config.auto_wrap_policy",
     .words = "TRANSFORMER_BASED_WRAP",
     .use = NameUse::kExport,
     .when = "sharded"},
    {.name = "fsdp_config.reshard_after_forward",
     .setting = "zero",
     .words = "3=true 2=false 3- 0- alone-",
     .when = "sharded"},
    {.name = "fsdp_config.offload_params",
     .setting = "offload_all",
     .words = "1=true 0=false",
     .when = "sharded"},
    {.name = "fsdp_config.state_dict_type",
     .words = "SHARDED_STATE_DICT",
     .use = NameUse::kExport,
     .when = "sharded"},
    {.name = "gradient_checkpointing", .setting = "rc", .words = "full=true none=false none-"},
    {.name = "bf16",
     .setting = "dtype",
     .words = "bf16=true bf16=full bf16=auto fp16- fp32- fp16=false fp32=false"},
    {.name = "fp16", .setting = "dtype", .words = "fp16=true bf16- fp32- bf16=false fp32=false"},
    {.name = "attn_implementation",
     .setting = "attn",
     .words = "default- flash2=flash_attention_2 flash3=flash_attention_3 sdpa eager "
              "default=flex_attention"},
    {.name = "optimizer", .setting = "optimizer", .words = kTrainerOptimizers},
    {.name = "torch_compile", .setting = "compile", .words = "on=true off=false"},
    {.name = "plugins", .words = kLiger, .use = NameUse::kExport, .when = "liger_plugin"},
    {.name = "liger_fused_linear_cross_entropy",
     .setting = "loss",
     .words = "fused=true plain=false"},
    {.name = "liger_rms_norm", .setting = "norm", .words = "fused=true default-"},
    {.name = "adapter", .setting = "adapter", .words = "lora qlora full-"},
    {.name = "lora_r", .setting = "adapter_rank"},
    {.name = "lora_target_linear", .setting = "adapter_linear", .words = "1=true 0=false"},
    {.name = "lora_target_modules", .setting = "adapter_targets"},
    {.name = "peft_use_dora", .setting = "adapter_dora", .words = "1=true 0=false"},
    {.name = "load_in_4bit", .setting = "base_4bit", .words = "1=true 0=false"},

    {.name = "base_model", .setting = "model", .use = NameUse::kImport},
    {.name = "fsdp_config.activation_checkpointing",
     .setting = "rc",
     .words = "full=true none=false",
     .use = NameUse::kImport},
    {.name = "flash_attention",
     .setting = "attn",
     .words = "flash2=true default=false",
     .use = NameUse::kImport},
    {.name = "plugins",
     .words = "axolotl.integrations.liger.LigerPlugin [axolotl.integrations.liger.LigerPlugin]",
     .effect = NameEffect::kRefused,
     .hint = "the planner models no plugin but Liger's; for a fused loss pass --loss fused to "
             "estimate or recommend"},
    {.name = "fsdp_config.auto_wrap_policy",
     .words = "TRANSFORMER_BASED_WRAP",
     .effect = NameEffect::kRefused,
     .hint = "the planner models FSDP units of one layer; must be TRANSFORMER_BASED_WRAP"},
    {.name = "fsdp_config.fsdp_*",
     .effect = NameEffect::kRefused,
     .hint = "FSDP1 is not modelled; must be a key of FSDP2, with fsdp_version 2"},
    {.name = "fsdp",
     .effect = NameEffect::kRefused,
     .hint = "FSDP1 is not modelled; must be absent, with fsdp_version 2"},
    {.name = "fsdp_config.transformer_layer_cls_to_wrap", .hint = "the model's layers"},
    {.name = "fsdp_config.state_dict_type", .hint = "checkpoints"},
    {.name = "fsdp_config.final_state_dict_type", .hint = "checkpoints"},
    {.name = "fsdp_config.cpu_ram_efficient_loading", .hint = "loading"},
    {.name = "fsdp_config.sync_module_states", .hint = "loading"},
    {.name = "deepspeed",
     .effect = NameEffect::kRefused,
     .hint = "import --from deepspeed reads its file"},
    {.name = "activation_offloading",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = "not imported; set offload=act:N in the layout instead"},
    {.name = "lora_alpha", .hint = "the adapters' scaling factor"},
    {.name = "lora_dropout", .hint = "the planner does not model dropout in adapters"},
    {.name = "lora_mlp_kernel", .hint = kGiven},
    {.name = "lora_qkv_kernel", .hint = kGiven},
    {.name = "lora_o_kernel", .hint = kGiven},
    {.name = "lora_*", .effect = NameEffect::kRefused, .hint = kAdapters},
    {.name = "load_in_8bit", .words = "false", .effect = NameEffect::kRefused, .hint = kAdapters},
    {.name = "liger_rope", .hint = "fuses a small memory-bound operator"},
    {.name = "liger_glu_activation", .hint = "fuses a small memory-bound operator"},
    {.name = "liger_swiglu", .hint = "fuses a small memory-bound operator"},
    {.name = "gradient_checkpointing_kwargs*", .hint = "how a recomputed layer is called"},
    {.name = "sample_packing*", .hint = "every estimate is for sequences of full length"},
    {.name = "pad_to_sequence_len", .hint = "every estimate is for sequences of full length"},
    {.name = "tf32", .hint = "affects fp32 matrix products alone"},
    {.name = "learning_rate", .hint = "the learning rate"},
    {.name = "lr_scheduler*", .hint = "the learning rate"},
    {.name = "warmup_*", .hint = "the learning rate"},
    {.name = "weight_decay", .hint = "the optimizer's hyperparameters"},
    {.name = "adam_*", .hint = "the optimizer's hyperparameters"},
    {.name = "max_grad_norm", .hint = "the optimizer's hyperparameters"},
    {.name = "num_epochs", .hint = "the length of the training"},
    {.name = "max_steps", .hint = "the length of the training"},
    {.name = "logging_steps", .hint = "logs"},
    {.name = "wandb_*", .hint = "logs"},
    {.name = "output_dir", .hint = "checkpoints"},
    {.name = "save*", .hint = "checkpoints"},
    {.name = "resume_from_checkpoint", .hint = "checkpoints"},
    {.name = "hub_model_id", .hint = "checkpoints"},
    {.name = "eval*", .hint = "evaluation"},
    {.name = "val_set_size", .hint = "evaluation"},
    {.name = "dataset*", .hint = "data"},
    {.name = "chat_template*", .hint = "data"},
    {.name = "special_tokens*", .hint = "data"},
    {.name = "tokenizer_*", .hint = "data"},
    {.name = "model_type", .hint = kModels},
    {.name = "trust_remote_code", .hint = kModels},
    {.name = "seed", .hint = "the initial weights"},
};

absl::Status PrepareAxolotl(const ExportJob& job, Settings& settings) {
  RETURN_IF_ERROR(PrepareFsdp2(job, settings));
  const Layout& l = job.layout;
  if (l.tp > 1 && l.norm == NormKernel::kFused) {
    return CannotExport(
        "norm=fused",
        "Axolotl has Liger's norms only without tensor parallelism; must be left out");
  }
  if (l.tp > 1 && job.training.options.loss_chunks == 0) {
    return FieldError("loss", "fused",
                      "Axolotl has Liger's loss only without tensor parallelism; must be plain");
  }
  if (l.cp > 1) {  // ring attention calls FlashAttention-2
    if (l.attention != AttentionKernel::kDefault && l.attention != AttentionKernel::kFlash2) {
      return CannotExport(absl::StrCat("attn=", std::string(AttentionKernelName(l.attention))),
                          "Axolotl's context parallelism calls FlashAttention-2; must be flash2");
    }
    settings.Set("attn", "flash2");
  }
  if (job.layout.norm == NormKernel::kFused || job.training.options.loss_chunks == 0) {
    settings.Set("liger_plugin", 1);
  }
  if (job.layout.norm == NormKernel::kEager) settings.Set("norm", "default");
  if (settings.TextOf("adapter_targets", "") == "all-linear") {
    settings.Set("adapter_linear", 1);
    settings.Remove("adapter_targets");
  } else if (const std::string* targets = settings.Find("adapter_targets")) {
    settings.Set("adapter_targets",
                 absl::StrCat("[", absl::StrReplaceAll(*targets, {{" ", ", "}}), "]"));
  }
  return absl::OkStatus();
}

// With context parallelism, FlashAttention-2 is the one kernel, and so the default.
absl::Status ResolveAxolotl(Settings& settings) {
  const bool flash2 = settings.TextOf("attn", "default") == "flash2";
  if (settings.CountOf("cp").value_or(1) > 1 && flash2) settings.Set("attn", "default");
  if (settings.IsOn("adapter_linear")) settings.Set("adapter_targets", "all-linear");
  return absl::OkStatus();
}

absl::StatusOr<ExportedJob> ExportAxolotl(const ExportJob& job, const Settings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> keys, SpellAll(kAxolotlKeys, settings));
  ExportedJob exported =
      FileExport(job, "axolotl.yaml",
                 {absl::StrCat("on ", job.layout.devices(),
                               " devices with Axolotl. base_model, datasets, learning rate and "
                               "checkpoints are yours.")});
  exported.program = {"-m", "axolotl.cli.train"};
  exported.argument_lines = {{exported.files.front().name}};
  FinishFile(exported, absl::StrCat(CommentLines(job.notes), YamlText(keys)));
  return exported;
}

}  // namespace

const Framework& AxolotlFramework() {
  static const Framework framework = {
      .name = "axolotl",
      .release = "0.19",
      .profile = "hf-fsdp2",
      .further_profiles = "hf-fsdp2-compiled",
      .lacks = "Axolotl has no key for",
      .syntax = ConfigSyntax::kYaml,
      .tables = {kAxolotlKeys, LauncherNames(), NameTable()},
      .implied = "dp sched",
      .defaults = "accumulation=1 copies=1",
      .loads_models = true,
      .precisions = {Precision::kBf16, Precision::kFp16, Precision::kFp32},
      .prepare = PrepareAxolotl,
      .write = ExportAxolotl,
      .resolve = ResolveAxolotl};
  return framework;
}

}  // namespace meshwright::planner

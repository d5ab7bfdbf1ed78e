// LLaMA-Factory's YAML: the Trainer's arguments, its own as in src/llamafactory/hparams of release
// 0.9, and DeepSpeed's file as a section.
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/text/status_macros.h"
#include "planner/interchange/file_export.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/hugging_face.h"
#include "planner/interchange/yaml_text.h"

namespace meshwright::planner {
namespace {

constexpr NameRow kLlamaFactoryKeys[] = {
    {.name = "finetuning_type", .setting = "adapter", .words = "full lora lora-"},
    {.name = "lora_rank", .setting = "adapter_rank"},
    {.name = "lora_target", .setting = "adapter_targets", .words = "all-linear=all *"},
    {.name = "use_dora", .setting = "adapter_dora", .words = "1=true 0=false"},
    {.name = "quantization_bit", .setting = "base_4bit", .words = "1=4"},
    {.name = "cutoff_len", .setting = "seq_len"},
    {.name = "per_device_train_batch_size", .setting = "mb"},
    {.name = "gradient_accumulation_steps", .setting = "accumulation"},
    {.name = "bf16", .setting = "dtype", .words = "bf16=true fp16- fp32- fp16=false fp32=false"},
    {.name = "fp16", .setting = "dtype", .words = "fp16=true bf16- fp32- bf16=false fp32=false"},
    {.name = "disable_gradient_checkpointing",
     .setting = "rc",
     .words = "none=true full=false full-"},
    {.name = "flash_attn",
     .setting = "attn",
     .words = "default- flash2=fa2 flash3=fa3 sdpa eager=disabled default=auto"},
    {.name = "optim", .setting = "optimizer", .words = kTrainerOptimizers},
    {.name = "enable_liger_kernel", .setting = "liger", .words = "1=true 0=false"},
    {.name = "torch_compile", .setting = "compile", .words = "on=true off=false"},
    {.name = "deepspeed.train_batch_size",
     .words = "auto",
     .use = NameUse::kExport,
     .when = "of_deepspeed"},
    {.name = "deepspeed.train_micro_batch_size_per_gpu",
     .words = "auto",
     .use = NameUse::kExport,
     .when = "of_deepspeed"},
    {.name = "deepspeed.gradient_accumulation_steps",
     .words = "auto",
     .use = NameUse::kExport,
     .when = "of_deepspeed"},
    {.name = "deepspeed.bf16.enabled",
     .words = "auto",
     .use = NameUse::kExport,
     .when = "of_deepspeed"},
    {.name = "deepspeed.fp16.enabled",
     .words = "auto",
     .use = NameUse::kExport,
     .when = "of_deepspeed"},
    {.name = "deepspeed.tensor_parallel.autotp_size", .setting = "tp", .words = "1- *"},
    {.name = "deepspeed.zero_optimization.stage",
     .setting = "zero",
     .words = "0 0- 1 2 3",
     .when = "of_deepspeed"},
    {.name = "deepspeed.zero_optimization.offload_optimizer.device",
     .setting = "offload_optimizer",
     .words = "0- 1=cpu 0=none"},
    {.name = "deepspeed.zero_optimization.offload_param.device",
     .setting = "offload_parameters",
     .words = "0- 1=cpu 0=none"},

    {.name = "gradient_checkpointing",
     .setting = "rc",
     .words = "full=true none=false",
     .use = NameUse::kImport},
    {.name = "deepspeed.train_batch_size", .setting = "global_batch", .use = NameUse::kImport},
    {.name = "deepspeed.train_micro_batch_size_per_gpu", .setting = "mb", .use = NameUse::kImport},
    {.name = "deepspeed.gradient_accumulation_steps",
     .setting = "accumulation",
     .use = NameUse::kImport},
    {.name = "deepspeed.bf16.*", .hint = "taken from the trainer's arguments"},
    {.name = "deepspeed.fp16.*", .hint = "taken from the trainer's arguments"},
    {.name = "lora_alpha", .hint = "the adapters' scaling factor"},
    {.name = "lora_dropout", .hint = "the planner does not model dropout in adapters"},
    {.name = "quantization_method",
     .words = "bnb",
     .effect = NameEffect::kRefused,
     .hint = kAdapters},
    {.name = "freeze_*",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = "not imported; pass --train frozen:PARTS to `estimate` or `recommend` instead"},
    {.name = "pure_bf16",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = "not imported; pass --states bf16 to `estimate` or `recommend` instead"},
    {.name = "use_unsloth", .words = "false", .effect = NameEffect::kRefused, .hint = kUnplanned},
    {.name = "use_unsloth_gc",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "quantization_*", .effect = NameEffect::kRefused, .hint = kAdapters},
    {.name = "stage",
     .words = "sft pt",
     .effect = NameEffect::kRefused,
     .hint = "the planner models one model with one loss; must be sft or pt"},
    {.name = "use_reentrant_gc", .hint = "how a recomputed layer is called"},
    {.name = "dataset*", .hint = "data"},
    {.name = "eval_dataset", .hint = "data"},
    {.name = "template", .hint = "data"},
    {.name = "max_samples", .hint = "data"},
    {.name = "overwrite_cache", .hint = "data"},
    {.name = "val_size", .hint = "evaluation"},
    {.name = "plot_loss", .hint = "logs"},
};

absl::Status PrepareLlamaFactory(const ExportJob& job, Settings& settings) {
  settings.Set("adapter", job.training.options.train.adapter.exists() ? "lora" : "full");
  if (const std::string* targets = settings.Find("adapter_targets")) {
    settings.Set("adapter_targets", absl::StrReplaceAll(*targets, {{" ", ","}}));
  }
  RETURN_IF_ERROR(PrepareDeepspeed(job, settings));
  // Without the section, the Trainer replicates the model with PyTorch.
  if (job.layout.zero > 0 || job.layout.tp > 1) settings.Set("of_deepspeed", 1);
  return absl::OkStatus();
}

absl::StatusOr<ExportedJob> ExportLlamaFactory(const ExportJob& job, const Settings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> keys, SpellAll(kLlamaFactoryKeys, settings));
  ExportedJob exported = FileExport(
      job, "llamafactory.yaml",
      {absl::StrCat("on ", job.layout.devices(),
                    " devices with LLaMA-Factory and DeepSpeed. model_name_or_path, dataset, "
                    "learning rate and checkpoints are yours.")});
  exported.launcher = RankLauncher::kProgram;
  exported.environment = {{"FORCE_TORCHRUN", "1"}};
  exported.program = {"llamafactory-cli", "train"};
  exported.argument_lines = {{exported.files.front().name}};
  FinishFile(exported, absl::StrCat(CommentLines(job.notes), YamlText(keys)));
  return exported;
}

}  // namespace

const Framework& LlamaFactoryFramework() {
  static const Framework framework = {
      .name = "llamafactory",
      .release = "0.9",
      .profile = "deepspeed",
      .lacks = "LLaMA-Factory has no key for",
      .syntax = ConfigSyntax::kYaml,
      .tables = {kLlamaFactoryKeys, TrainerNames(), DeepspeedNames(), LauncherNames()},
      .implied = "dp sched",
      .defaults = "accumulation=1",
      .loads_models = true,
      .precisions = {Precision::kBf16, Precision::kFp16, Precision::kFp32},
      .prepare = PrepareLlamaFactory,
      .write = ExportLlamaFactory,
      .resolve = ResolveTrainer};
  return framework;
}

}  // namespace meshwright::planner

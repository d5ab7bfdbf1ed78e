// The arguments of transformers' Trainer (TrainingArguments) and of TRL's trainers and scripts.
#include "base/text/status_macros.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/hugging_face.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kScripts = "transformers' example scripts";
constexpr std::string_view kOlder = "older releases of transformers and TRL";

constexpr NameRow kTrainerRows[] = {
    {.name = "--per_device_train_batch_size", .setting = "mb"},
    {.name = "--gradient_accumulation_steps", .setting = "accumulation"},
    {.name = "--bf16",
     .setting = "dtype",
     .words = "bf16=true fp16- fp32- bf16= fp16=false fp32=false"},
    {.name = "--fp16",
     .setting = "dtype",
     .words = "fp16=true bf16- fp32- fp16= bf16=false fp32=false"},
    {.name = "--gradient_checkpointing",
     .setting = "rc",
     .words = "full=true none- none=false full=",
     .when = "trainer_recomputes"},
    {.name = "--torch_compile", .setting = "compile", .words = "on=true off=false on="},
    {.name = "--use_liger_kernel", .setting = "liger", .words = "1=true 1= 0=false"},
    {.name = "--attn_implementation",
     .setting = "attn",
     .words = "default- flash2=flash_attention_2 flash3=flash_attention_3 "
              "flash4=flash_attention_4 sdpa eager"},
    {.name = "--optim", .setting = "optimizer", .words = kTrainerOptimizers},
    {.name = "--use_peft", .setting = "uses_adapter", .words = "1=true 1= 0=false"},
    {.name = "--lora_r", .setting = "adapter_rank"},
    {.name = "--lora_target_modules", .setting = "adapter_targets"},
    {.name = "--use_dora", .setting = "adapter_dora", .words = "1=true 1= 0=false"},
    {.name = "--load_in_4bit", .setting = "base_4bit", .words = "1=true 1= 0=false"},

    {.name = "--model_name_or_path", .setting = "model", .use = NameUse::kImport},
    {.name = "--max_length", .setting = "seq_len", .use = NameUse::kImport},
    {.name = "--max_seq_length", .setting = "seq_len", .use = NameUse::kImport, .of = kOlder},
    {.name = "--model_max_length", .setting = "seq_len", .use = NameUse::kImport, .of = kScripts},
    {.name = "--block_size", .setting = "seq_len", .use = NameUse::kImport, .of = kScripts},
    {.name = "--lora_alpha", .hint = "the adapters' scaling factor"},
    {.name = "--lora_dropout", .hint = "the planner does not model dropout in adapters"},
    {.name = "--lora_*", .effect = NameEffect::kRefused, .hint = kAdapters},
    {.name = "--bnb_4bit_*", .hint = "how weights are quantised to 4 bits"},
    {.name = "--load_in_8bit", .words = "false", .effect = NameEffect::kRefused, .hint = kAdapters},
    {.name = "--activation_offloading",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = "not imported; set offload=act:N in the layout instead"},
    {.name = "--fsdp",
     .effect = NameEffect::kRefused,
     .hint = "the import reads FSDP from the accelerate configuration file; must be absent"},
    {.name = "--fsdp_config", .effect = NameEffect::kFile},
    {.name = "--deepspeed", .effect = NameEffect::kFile},
    {.name = "--config_file", .effect = NameEffect::kFile},
    {.name = "--torch_dtype",
     .hint = "fp32 copies are kept whatever the file's format is",
     .of = kOlder},
    {.name = "--dtype", .hint = "fp32 copies are kept whatever the file's format is"},
    {.name = "--gradient_checkpointing_kwargs", .hint = "how a recomputed layer is called"},
    {.name = "--tf32", .hint = "affects fp32 matrix products alone"},
    {.name = "--packing*", .hint = "every estimate is for sequences of full length"},
    {.name = "--learning_rate", .hint = "the learning rate"},
    {.name = "--lr_scheduler_*", .hint = "the learning rate"},
    {.name = "--warmup_*", .hint = "the learning rate"},
    {.name = "--weight_decay", .hint = "the optimizer's hyperparameters"},
    {.name = "--adam_*", .hint = "the optimizer's hyperparameters"},
    {.name = "--max_grad_norm", .hint = "the optimizer's hyperparameters"},
    {.name = "--num_train_epochs", .hint = "the length of the training"},
    {.name = "--max_steps", .hint = "the length of the training"},
    {.name = "--logging_*", .hint = "logs"},
    {.name = "--report_to", .hint = "logs"},
    {.name = "--run_name", .hint = "logs"},
    {.name = "--save_*", .hint = "checkpoints"},
    {.name = "--output_dir", .hint = "checkpoints"},
    {.name = "--overwrite_output_dir", .hint = "checkpoints", .of = kOlder},
    {.name = "--resume_from_checkpoint", .hint = "checkpoints"},
    {.name = "--push_to_hub", .hint = "checkpoints"},
    {.name = "--hub_*", .hint = "checkpoints"},
    {.name = "--eval_*", .hint = "evaluation"},
    {.name = "--per_device_eval_batch_size", .hint = "evaluation"},
    {.name = "--do_*", .hint = "what the script does"},
    {.name = "--seed", .hint = "the initial weights"},
    {.name = "--data_seed", .hint = "data"},
    {.name = "--dataset_*", .hint = "data"},
    {.name = "--train_file", .hint = "data", .of = kScripts},
    {.name = "--validation_file", .hint = "data", .of = kScripts},
    {.name = "--dataloader_*", .hint = "data"},
    {.name = "--preprocessing_*", .hint = "data", .of = kScripts},
    {.name = "--remove_unused_columns", .hint = "data"},
    {.name = "--tokenizer_*", .hint = "data", .of = kScripts},
    {.name = "--trust_remote_code", .hint = kModels},
    {.name = "--config_name", .hint = kModels, .of = kScripts},
    {.name = "--ddp_timeout", .hint = "how process groups are set up"},
};

}  // namespace

NameTable TrainerNames() { return kTrainerRows; }

absl::StatusOr<std::vector<Spelling>> TrainerArguments(const Settings& settings) {
  return SpellAll(kTrainerRows, settings);
}

absl::StatusOr<std::vector<std::vector<std::string>>> TrainerArgumentLines(
    const Settings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> arguments, TrainerArguments(settings));
  return FlagLines(kTrainerRows, arguments);
}

}  // namespace meshwright::planner

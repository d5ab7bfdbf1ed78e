// Hugging Face Accelerate: the keys of the YAML file of `accelerate launch --config_file`, as in
// accelerate/commands/launch.py and accelerate/parallelism_config.py of release 1.15.
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "planner/interchange/file_export.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/hugging_face.h"
#include "planner/interchange/yaml_text.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kFsdp1 =
    "FSDP1 is not modelled; must be FSDP2, to which `accelerate to-fsdp2` converts the file";

constexpr NameRow kAccelerateKeys[] = {
    {.name = "compute_environment", .words = "LOCAL_MACHINE", .use = NameUse::kExport},
    {.name = "distributed_type",
     .setting = "zero",
     .words = "0=MULTI_GPU 3=FSDP 2=FSDP 0=NO alone=NO"},
    {.name = "mixed_precision", .setting = "dtype", .words = "bf16 fp16 fp32=no", .quoted = true},
    {.name = "num_machines", .setting = "nodes"},
    {.name = "num_processes", .setting = "gpus"},
    {.name = "fsdp_config.fsdp_version", .words = "2", .use = NameUse::kExport, .when = "sharded"},
    {.name = "fsdp_config.fsdp_auto_wrap_policy",
     .words = "TRANSFORMER_BASED_WRAP",
     .use = NameUse::kExport,
     .when = "sharded"},
    {.name = "fsdp_config.fsdp_reshard_after_forward",
     .setting = "zero",
     .words = "3=true 2=false 0- alone-",
     .when = "sharded"},
    {.name = "fsdp_config.fsdp_activation_checkpointing",
     .setting = "rc",
     .words = "full=true none=false",
     .when = "sharded"},
    {.name = "fsdp_config.fsdp_offload_params",
     .setting = "offload_all",
     .words = "1=true 0=false",
     .when = "sharded"},
    {.name = "fsdp_config.fsdp_state_dict_type",
     .words = "SHARDED_STATE_DICT",
     .use = NameUse::kExport,
     .when = "sharded"},
    {.name = "parallelism_config.parallelism_config_dp_replicate_size",
     .setting = "copies",
     .when = "sharded"},
    {.name = "parallelism_config.parallelism_config_dp_shard_size",
     .setting = "shards",
     .when = "sharded"},
    {.name = "parallelism_config.parallelism_config_tp_size", .setting = "tp", .when = "sharded"},
    {.name = "parallelism_config.parallelism_config_cp_size", .setting = "cp", .when = "sharded"},

    {.name = "dynamo_config.dynamo_backend",
     .setting = "compile",
     .words = "on=INDUCTOR off=NO",
     .use = NameUse::kImport},
    {.name = "gradient_accumulation_steps", .setting = "accumulation", .use = NameUse::kImport},
    {.name = "fsdp_config.fsdp_version",
     .words = "2",
     .effect = NameEffect::kRefused,
     .hint = kFsdp1},
    {.name = "fsdp_config.fsdp_sharding_strategy", .effect = NameEffect::kRefused, .hint = kFsdp1},
    {.name = "fsdp_config.fsdp_auto_wrap_policy",
     .words = "TRANSFORMER_BASED_WRAP",
     .effect = NameEffect::kRefused,
     .hint = "the planner models FSDP units of one layer; must be TRANSFORMER_BASED_WRAP"},
    {.name = "fsdp_config.fsdp_min_num_params",
     .effect = NameEffect::kRefused,
     .hint = "the planner models FSDP units of one layer; must be absent"},
    {.name = "fsdp_config.fsdp_transformer_layer_cls_to_wrap", .hint = "the model's layers"},
    {.name = "fsdp_config.fsdp_state_dict_type", .hint = "checkpoints"},
    {.name = "fsdp_config.fsdp_cpu_ram_efficient_loading", .hint = "loading"},
    {.name = "fsdp_config.fsdp_sync_module_states", .hint = "loading"},
    {.name = "fsdp_config.fsdp_use_orig_params", .hint = "FSDP1's"},
    {.name = "fsdp_config.fsdp_backward_prefetch", .hint = "FSDP1's"},
    {.name = "fsdp_config.fsdp_forward_prefetch", .hint = "FSDP1's"},
    {.name = "fsdp_config.fsdp_ignored_modules",
     .words = "null",
     .effect = NameEffect::kRefused,
     .hint = "the planner models FSDP that shards all modules; must be null"},
    {.name = "parallelism_config.parallelism_config_sp_size",
     .words = "1",
     .effect = NameEffect::kRefused,
     .hint = "Ulysses sequence parallelism is not modelled; must be 1"},
    {.name = "parallelism_config.parallelism_config_*", .hint = "how an axis communicates"},
    {.name = "deepspeed_config.*",
     .effect = NameEffect::kRefused,
     .hint = "import --from deepspeed reads DeepSpeed's file"},
    {.name = "megatron_lm_config.*",
     .effect = NameEffect::kRefused,
     .hint = "the planner models accelerate with FSDP2 alone; must be absent"},
    {.name = "fp8_config.*",
     .effect = NameEffect::kRefused,
     .hint = "the planner models bf16, fp16 and fp32 with accelerate; must be absent"},
    {.name = "use_cpu", .words = "false", .effect = NameEffect::kRefused, .hint = "must be false"},
    {.name = "compute_environment", .hint = "where it runs"},
    {.name = "debug", .hint = "checks"},
    {.name = "downcast_bf16", .hint = "affects TPUs alone"},
    {.name = "enable_cpu_affinity", .hint = "where it runs"},
    {.name = "gpu_ids", .hint = "where it runs"},
    {.name = "main_process_*", .hint = "how process groups are set up"},
    {.name = "machine_rank", .hint = "how process groups are set up"},
    {.name = "rdzv_backend", .hint = "how process groups are set up"},
    {.name = "same_network", .hint = "how process groups are set up"},
    {.name = "main_training_function", .hint = "the script's"},
    {.name = "parallelism_config", .hint = "empty"},
    {.name = "fsdp_config", .hint = "empty"},
    {.name = "tpu_*", .hint = "affects TPUs alone"},
};

absl::Status PrepareAccelerate(const ExportJob& job, Settings& settings) {
  RETURN_IF_ERROR(CheckTrainer(job));
  const AttentionKernel attention = job.layout.attention;
  if (job.layout.cp > 1 && attention != AttentionKernel::kDefault &&
      attention != AttentionKernel::kSdpa) {
    return CannotExport(
        absl::StrCat("attn=", std::string(AttentionKernelName(attention))),
        "the Trainer's context parallelism calls PyTorch's attention; must be sdpa or left out");
  }
  return PrepareFsdp2(job, settings);
}

absl::StatusOr<ExportedJob> ExportAccelerate(const ExportJob& job, const Settings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> keys, SpellAll(kAccelerateKeys, settings));
  std::string notes = CommentLines(job.notes);
  if (job.layout.norm == NormKernel::kEager) {
    notes += "# norm=eager: the norms of transformers, which it has without Liger.\n";
  }
  ExportedJob exported = FileExport(
      job, "accelerate.yaml",
      {absl::StrCat("on ", job.layout.devices(),
                    " devices with Hugging Face's Trainer and accelerate, for sequences of ",
                    job.training.seq_len, " tokens. Start the script on"),
       "every node; its data, learning rate and checkpoints are yours:"});
  exported.launcher = RankLauncher::kAccelerate;
  exported.program = {"train.py"};
  ASSIGN_OR_RETURN(exported.argument_lines, TrainerArgumentLines(settings));
  FinishFile(exported, absl::StrCat(notes, YamlText(keys)));
  return exported;
}

}  // namespace

const Framework& AccelerateFramework() {
  static const Framework framework = {
      .name = "accelerate",
      .release = "1.15",
      .profile = "hf-fsdp2",
      .further_profiles = "hf-fsdp2-compiled hf-ddp",
      .lacks = "accelerate has no setting for",
      .syntax = ConfigSyntax::kYaml,
      .tables = {kAccelerateKeys, TrainerNames(), LauncherNames()},
      .written = 2,
      .implied = "dp sched",
      .defaults = "accumulation=1",
      .loads_models = true,
      .precisions = {Precision::kBf16, Precision::kFp16, Precision::kFp32},
      .prepare = PrepareAccelerate,
      .write = ExportAccelerate,
      .resolve = ResolveTrainer};
  return framework;
}

}  // namespace meshwright::planner

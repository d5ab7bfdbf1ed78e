// DeepSpeed's JSON file, with keys as in deepspeed/runtime/constants.py and
// deepspeed/runtime/zero/config.py of release 0.19, for Hugging Face's Trainer.
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/hugging_face.h"

namespace meshwright::planner {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kBuckets =
    "changes memory, and the planner models DeepSpeed's default; must be left out";

constexpr NameRow kDeepspeedKeys[] = {
    {.name = "train_batch_size", .setting = "global_batch"},
    {.name = "train_micro_batch_size_per_gpu", .setting = "mb"},
    {.name = "gradient_accumulation_steps", .setting = "accumulation"},
    {.name = "tensor_parallel.autotp_size", .setting = "tp", .words = "1- 1=0 *"},
    {.name = "zero_optimization.stage", .setting = "zero", .words = "0 1 2 3"},
    {.name = "zero_optimization.offload_optimizer.device",
     .setting = "offload_optimizer",
     .words = "0- 1=cpu 0=none"},
    {.name = "zero_optimization.offload_param.device",
     .setting = "offload_parameters",
     .words = "0- 1=cpu 0=none"},
    {.name = "data_types.grad_accum_dtype", .setting = "state_grad", .words = "fp32 bf16 fp16"},
    {.name = "bf16.enabled",
     .setting = "dtype",
     .words = "bf16=true fp16- fp32- fp16=false fp32=false"},
    {.name = "fp16.enabled",
     .setting = "dtype",
     .words = "fp16=true bf16- fp32- bf16=false fp32=false"},

    {.name = "optimizer.type",
     .setting = "optimizer",
     .words = "adamw=AdamW adamw=Adam muon=Muon lion=Lion sgd=SGD",
     .use = NameUse::kImport},
    {.name = "optimizer.params.*", .hint = "the optimizer's hyperparameters"},
    {.name = "scheduler.*", .hint = "the learning rate"},
    {.name = "fp16.*", .hint = "the loss scaling of fp16"},
    {.name = "bf16.*", .hint = "checks"},
    {.name = "gradient_clipping", .hint = "the optimizer's hyperparameters"},
    {.name = "steps_per_print", .hint = "logs"},
    {.name = "wall_clock_breakdown", .hint = "logs"},
    {.name = "tensorboard.*", .hint = "logs"},
    {.name = "wandb.*", .hint = "logs"},
    {.name = "zero_allow_untested_optimizer", .hint = "checks"},
    {.name = "zero_force_ds_cpu_optimizer", .hint = "checks"},
    {.name = "zero_optimization.overlap_comm", .hint = kGiven},
    {.name = "zero_optimization.contiguous_gradients", .hint = kGiven},
    {.name = "zero_optimization.reduce_scatter", .hint = kGiven},
    {.name = "zero_optimization.allgather_partitions", .hint = kGiven},
    {.name = "zero_optimization.round_robin_gradients", .hint = "the order of copies"},
    {.name = "zero_optimization.offload_optimizer.pin_memory", .hint = "the hosts' memory"},
    {.name = "zero_optimization.offload_param.pin_memory", .hint = "the hosts' memory"},
    {.name = "zero_optimization.stage3_gather_16bit_weights_on_model_save", .hint = "checkpoints"},
    {.name = "zero_optimization.reduce_bucket_size",
     .words = "5e8",
     .effect = NameEffect::kRefused,
     .hint = kBuckets},
    {.name = "zero_optimization.allgather_bucket_size",
     .words = "5e8",
     .effect = NameEffect::kRefused,
     .hint = kBuckets},
    {.name = "zero_optimization.sub_group_size",
     .words = "1e9",
     .effect = NameEffect::kRefused,
     .hint = kBuckets},
    {.name = "zero_optimization.stage3_max_live_parameters",
     .words = "1e9",
     .effect = NameEffect::kRefused,
     .hint = kBuckets},
    {.name = "zero_optimization.stage3_max_reuse_distance",
     .words = "1e9",
     .effect = NameEffect::kRefused,
     .hint = kBuckets},
    {.name = "zero_optimization.stage3_prefetch_bucket_size",
     .words = "5e7",
     .effect = NameEffect::kRefused,
     .hint = kBuckets},
    {.name = "zero_optimization.stage3_param_persistence_threshold",
     .words = "1e5",
     .effect = NameEffect::kRefused,
     .hint = kBuckets},
    {.name = "zero_optimization.zero_hpz_partition_size",
     .words = "1",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "zero_optimization.zero_quantized_*",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "zero_optimization.mics_shard_size",
     .words = "-1",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned,
     .of = "DeepSpeed before 0.19"},
    {.name = "communication_data_type",
     .words = "bf16",
     .effect = NameEffect::kRefused,
     .hint = "the planner models gradient reduction in bf16; must be bf16"},
    {.name = "compile.deepcompile",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "activation_checkpointing.*",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = "models of transformers do not call DeepSpeed's checkpointing; set "
             "--gradient_checkpointing of the Trainer instead"},
    {.name = "sequence_parallel_size",
     .words = "1",
     .effect = NameEffect::kRefused,
     .hint = "Ulysses sequence parallelism is not modelled; must be 1"},
};

// Returns the object at the path of a name, and leaves the last part of the name.
ordered_json& ObjectOf(absl::string_view& name, ordered_json& root) {
  ordered_json* object = &root;
  while (true) {
    const size_t dot = name.find('.');
    if (dot == absl::string_view::npos) return *object;
    object = &(*object)[std::string(name.substr(0, dot))];
    name.remove_prefix(dot + 1);
  }
}

void AddJson(absl::string_view name, const std::string& value, ordered_json& root) {
  ordered_json& object = ObjectOf(name, root);
  const absl::StatusOr<ordered_json> parsed = ParseOrderedJson("value", value);
  const bool is_literal = parsed.ok() && (parsed->is_boolean() || parsed->is_number());
  object[std::string(name)] = is_literal ? *parsed : ordered_json(value);
}

// DeepSpeed ignores sections that it does not know, so that arguments of the Trainer that its file
// has no key for stand in one.
absl::StatusOr<ExportedJob> ExportDeepspeed(const ExportJob& job, const Settings& settings) {
  ordered_json json = ordered_json::object();
  ASSIGN_OR_RETURN(const std::vector<Spelling> keys, SpellAll(kDeepspeedKeys, settings));
  for (const Spelling& key : keys) AddJson(AbslView(key.row->name), key.value, json);
  ASSIGN_OR_RETURN(const std::vector<Spelling> arguments, TrainerArguments(settings));
  for (const Spelling& argument : arguments) {
    const std::string_view setting = argument.row->setting;
    if (setting == "mb" || setting == "accumulation" || setting == "dtype") continue;
    absl::string_view name = AbslView(argument.row->name);
    absl::ConsumePrefix(&name, "--");
    AddJson(absl::StrCat(AbslView(kTrainerSection), name), argument.value, json);
  }
  ExportedJob exported;
  exported.is_file = true;
  exported.files = {{"deepspeed.json", json.dump(2) + "\n"}};
  exported.comments = {
      absl::StrCat(job.model.name, " as ", FormatLayout(job.layout)),
      absl::StrCat("on ", job.layout.devices(),
                   " devices with Hugging Face's Trainer and DeepSpeed, for sequences of ",
                   job.training.seq_len, " tokens."),
      "The script, its data, learning rate and checkpoints are yours."};
  exported.program = {"train.py"};
  ASSIGN_OR_RETURN(exported.argument_lines, TrainerArgumentLines(settings));
  exported.argument_lines.insert(exported.argument_lines.begin(),
                                 {"--deepspeed", exported.files.front().name});
  return exported;
}

}  // namespace

NameTable DeepspeedNames() { return kDeepspeedKeys; }

const Framework& DeepspeedFramework() {
  static const Framework framework = {
      .name = "deepspeed",
      .release = "0.19",
      .profile = "deepspeed",
      .lacks = "DeepSpeed's file has no key for",
      .syntax = ConfigSyntax::kJson,
      .tables = {kDeepspeedKeys, TrainerNames(), LauncherNames()},
      .written = 2,
      .implied = "dp sched",
      .loads_models = true,
      .precisions = {Precision::kBf16, Precision::kFp16, Precision::kFp32},
      .prepare = PrepareDeepspeed,
      .write = ExportDeepspeed,
      .resolve = ResolveTrainer};
  return framework;
}

}  // namespace meshwright::planner

// Nanotron's YAML, with keys as in src/nanotron/config/config.py and parallelism_config.py of
// release 0.4.
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "planner/interchange/file_export.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/yaml_text.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kAfter04 = "nanotron's main branch after 0.4";

constexpr NameRow kNanotronKeys[] = {
    {.name = "parallelism.dp", .setting = "dp"},
    {.name = "parallelism.pp", .setting = "pp"},
    {.name = "parallelism.tp", .setting = "tp"},
    {.name = "parallelism.context_parallel_size", .setting = "cp", .words = "1- *", .of = kAfter04},
    {.name = "parallelism.pp_engine", .setting = "sched", .words = "1f1b gpipe=afab gpipe-"},
    {.name = "parallelism.tp_mode", .setting = "sp", .words = "0=ALL_REDUCE 1=REDUCE_SCATTER 0-"},
    {.name = "parallelism.recompute_layer",
     .setting = "rc",
     .words = "full=true none- none=false",
     .of = kAfter04},
    {.name = "tokens.sequence_length", .setting = "seq_len"},
    {.name = "tokens.micro_batch_size", .setting = "mb"},
    {.name = "tokens.batch_accumulation_per_replica", .setting = "accumulation"},
    {.name = "optimizer.zero_stage", .setting = "zero", .words = "0 1"},
    {.name = "optimizer.accumulate_grad_in_fp32", .words = "true", .use = NameUse::kExport},
    {.name = "model.dtype", .setting = "dtype", .words = "bf16=bfloat16 fp16=float16 fp32=float32"},

    {.name = "parallelism.expert_parallel_size", .setting = "ep", .use = NameUse::kImport},
    {.name = "model.model_config.num_hidden_layers", .setting = "layers", .use = NameUse::kImport},
    {.name = "model.model_config.hidden_size", .setting = "hidden", .use = NameUse::kImport},
    {.name = "model.model_config.intermediate_size", .setting = "ffn", .use = NameUse::kImport},
    {.name = "model.model_config.num_attention_heads", .setting = "heads", .use = NameUse::kImport},
    {.name = "model.model_config.num_key_value_heads",
     .setting = "kv_heads",
     .use = NameUse::kImport},
    {.name = "model.model_config.vocab_size", .setting = "vocab", .use = NameUse::kImport},
    {.name = "model.model_config.*", .hint = kModels},
    {.name = "model.init_method.*", .hint = kModels},
    {.name = "model.make_vocab_size_divisible_by", .hint = kModels},
    {.name = "model.ddp_bucket_cap_mb",
     .words = "25",
     .effect = NameEffect::kRefused,
     .hint = "the planner models buckets of 25 MB; must be 25"},
    {.name = "optimizer.accumulate_grad_in_fp32",
     .words = "true",
     .effect = NameEffect::kRefused,
     .hint = "not imported; pass --states bf16-grads to `estimate` or `recommend` instead"},
    {.name = "optimizer.optimizer_factory.name",
     .words = "adamW",
     .effect = NameEffect::kRefused,
     .hint = "not imported; pass --optimizer to `estimate` or `recommend` instead",
     .of = kAfter04},
    {.name = "parallelism.tp_linear_async_communication", .hint = kGiven},
    {.name = "parallelism.tp_recompute_allgather", .hint = kGiven, .of = kAfter04},
    {.name = "optimizer.*", .hint = "the optimizer's hyperparameters"},
    {.name = "tokens.*", .hint = "the length of the training"},
    {.name = "checkpoints*", .hint = "checkpoints"},
    {.name = "data*", .hint = "data"},
    {.name = "general.*", .hint = "logs"},
    {.name = "lighteval*", .hint = "evaluation"},
    {.name = "logging*", .hint = "logs"},
    {.name = "metrics_logging*", .hint = "logs", .of = kAfter04},
    {.name = "profiler*", .hint = "a profiler for a few steps"},
    {.name = "tokenizer*", .hint = "data"},
    {.name = "s3_upload*", .hint = "checkpoints", .of = kAfter04},
    {.name = "--config-file", .hint = "the file of these keys"},
};

absl::Status PrepareNanotron(const ExportJob& job, Settings& settings) {
  if (job.layout.pp == 1) settings.Set("sched", "1f1b");
  return absl::OkStatus();
}

// A pipeline of one stage has no engine of its own.
absl::Status ResolveNanotron(Settings& settings) {
  if (settings.CountOf("pp").value_or(1) == 1) settings.Set("sched", "1f1b");
  return absl::OkStatus();
}

absl::StatusOr<ExportedJob> ExportNanotron(const ExportJob& job, const Settings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> keys, SpellAll(kNanotronKeys, settings));
  ExportedJob exported = FileExport(job, "nanotron.yaml",
                                    {absl::StrCat("on ", job.layout.devices(),
                                                  " devices with nanotron. Put these keys into "
                                                  "your configuration file, and start it with")});
  exported.program = {"run_train.py"};
  exported.argument_lines = {{"--config-file", exported.files.front().name}};
  std::string needs;
  for (const Spelling& key : keys) {
    if (key.row->of.empty()) continue;
    absl::StrAppend(&needs, "# ", std::string(key.row->name), " needs ", std::string(key.row->of),
                    ".\n");
  }
  FinishFile(exported, absl::StrCat(needs, CommentLines(job.notes), YamlText(keys)));
  return exported;
}

}  // namespace

const Framework& NanotronFramework() {
  static const Framework framework = {
      .name = "nanotron",
      .release = "0.4",
      .profile = "nanotron",
      .further_profiles =
          "nanotron-fast-hosts nanotron-before-pipeline-fix nanotron-before-pipeline-fix-async",
      .lacks = "nanotron has no key for",
      .syntax = ConfigSyntax::kYaml,
      .tables = {kNanotronKeys, LauncherNames(), NameTable()},
      .loads_models = true,
      .precisions = {Precision::kBf16, Precision::kFp16, Precision::kFp32},
      .prepare = PrepareNanotron,
      .write = ExportNanotron,
      .resolve = ResolveNanotron};
  return framework;
}

}  // namespace meshwright::planner

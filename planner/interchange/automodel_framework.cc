// NeMo AutoModel's YAML, with keys as in nemo_automodel/recipes/_dist_utils.py and
// nemo_automodel/components/distributed/{mesh,config,pipelining/config}.py of release 0.7.
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "planner/interchange/file_export.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/yaml_text.h"
#include "planner/layout/mesh.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kExamples = "example files of AutoModel";

constexpr NameRow kAutomodelKeys[] = {
    {.name = "step_scheduler.global_batch_size", .setting = "global_batch"},
    {.name = "step_scheduler.local_batch_size", .setting = "rank_batch"},
    {.name = "distributed.strategy", .words = "fsdp2", .use = NameUse::kExport, .when = "gpus"},
    {.name = "distributed.dp_size", .setting = "dp"},
    {.name = "distributed.dp_replicate_size", .setting = "copies", .words = "1- 1=null *"},
    {.name = "distributed.tp_size", .setting = "tp"},
    {.name = "distributed.pp_size", .setting = "pp"},
    {.name = "distributed.cp_size", .setting = "cp"},
    {.name = "distributed.ep_size", .setting = "ep", .words = "1- 1=null *"},
    {.name = "distributed.sequence_parallel", .setting = "sp", .words = "0=false 1=true 0-"},
    {.name = "distributed.activation_checkpointing",
     .setting = "rc",
     .words = "none=false selective full=true full none-"},
    {.name = "distributed.reshard_after_forward",
     .setting = "zero",
     .words = "3=true 3- 2=false 0-"},
    {.name = "distributed.pipeline.pp_schedule",
     .setting = "sched",
     .words = "1f1b gpipe interleaved=interleaved1f1b interleaved=interleaved_1f1b "
              "breadth_first=LoopedBFS zb_v=ZBVZeroBubble",
     .when = "pipelined"},
    {.name = "distributed.pipeline.pp_microbatch_size", .setting = "mb", .when = "pipelined"},
    {.name = "distributed.pipeline.layers_per_stage",
     .setting = "chunk_layers",
     .when = "pipelined"},
    {.name = "model.torch_dtype",
     .setting = "dtype",
     .words = "bf16=bfloat16 bf16 fp32=float32 bf16=torch.bfloat16"},
    {.name = "model.attn_implementation",
     .setting = "attn",
     .words = "default- flash2=flash_attention_2 flash3=flash_attention_3 "
              "flash4=flash_attention_4 sdpa eager"},

    {.name = "layers", .setting = "layers", .use = NameUse::kImport, .of = kGivenName},
    {.name = "model.pretrained_model_name_or_path", .setting = "model", .use = NameUse::kImport},
    {.name = "dataset.seq_length", .setting = "seq_len", .use = NameUse::kImport},
    {.name = "packed_sequence.packed_sequence_size", .setting = "seq_len", .use = NameUse::kImport},
    {.name = "distributed.strategy",
     .words = "fsdp2",
     .effect = NameEffect::kRefused,
     .hint = "the planner models AutoModel with FSDP2 alone; must be fsdp2"},
    {.name = "distributed._target_",
     .words = "nemo_automodel.components.distributed.fsdp2.FSDP2Manager",
     .effect = NameEffect::kRefused,
     .hint = "the planner models AutoModel with FSDP2 alone; must be FSDP2Manager"},
    {.name = "distributed.enable_async_tensor_parallel",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "distributed.enable_compile",
     .words = "false",
     .effect = NameEffect::kRefused,
     .hint = kUnplanned},
    {.name = "distributed.offload_policy*",
     .effect = NameEffect::kRefused,
     .hint = "not imported; set offload= in the layout instead"},
    {.name = "distributed.pipeline.module_fqns_per_model_part",
     .effect = NameEffect::kRefused,
     .hint = "not imported; set stages= in the layout instead"},
    {.name = "distributed.defer_fsdp_grad_sync", .hint = kGiven},
    {.name = "distributed.pipeline.*", .hint = "how stages are made"},
    {.name = "distributed.moe.*", .hint = "how experts are divided"},
    {.name = "distributed.enable_fsdp2_prefetch", .hint = kGiven},
    {.name = "peft*", .effect = NameEffect::kRefused, .hint = kAdapters},
    {.name = "fp8*",
     .effect = NameEffect::kRefused,
     .hint = "not imported; pass --dtype to `estimate` or `recommend` instead"},
    {.name = "quantization*", .effect = NameEffect::kRefused, .hint = kAdapters},
    {.name = "compile*", .effect = NameEffect::kRefused, .hint = kUnplanned},
    {.name = "optimizer._target_",
     .words = "torch.optim.Adam torch.optim.AdamW",
     .effect = NameEffect::kRefused,
     .hint = "not imported; pass --optimizer and --states to `estimate` or `recommend` instead"},
    {.name = "loss_fn._target_",
     .words = "nemo_automodel.components.loss.masked_ce.MaskedCrossEntropy",
     .effect = NameEffect::kRefused,
     .hint = "not imported; pass --loss to `estimate` or `recommend` instead"},
    {.name = "packed_sequence.*", .hint = "every estimate is for sequences of full length"},
    {.name = "optimizer.*", .hint = "the optimizer's hyperparameters"},
    {.name = "lr_scheduler*", .hint = "the learning rate"},
    {.name = "step_scheduler.*", .hint = "the length of the training"},
    {.name = "model.*", .hint = kModels},
    {.name = "recipe", .hint = "what is trained"},
    {.name = "seed", .hint = "the initial weights"},
    {.name = "rng*", .hint = "the initial weights", .of = kExamples},
    {.name = "dist_env*", .hint = "how process groups are set up"},
    {.name = "checkpoint*", .hint = "checkpoints"},
    {.name = "dataset*", .hint = "data"},
    {.name = "dataloader*", .hint = "data"},
    {.name = "validation_*", .hint = "evaluation"},
    {.name = "wandb*", .hint = "logs"},
    {.name = "ci*", .hint = "checks", .of = kExamples},
};

absl::Status PrepareAutomodel(const ExportJob& job, Settings& settings) {
  const Layout& l = job.layout;
  if (l.zero < 2 && GroupSize(GroupRole::kReplicas, l) > 1) {
    return CannotExport(absl::StrCat("zero", l.zero),
                        "AutoModel's FSDP2 always shards weights; must be zero3");
  }
  if (l.shard_ranks % l.cp != 0 || (l.shard_ranks > 0 && l.shard_ranks == l.cp)) {
    return CannotExport("hs",
                        "AutoModel divides states over whole context-parallel groups and over "
                        "dp; must be a multiple of cp above cp");
  }
  if (l.vpp > 1) {
    const int64_t stages = int64_t{l.pp} * l.vpp;
    if (job.model.layers() % stages != 0) {
      return CannotExport(absl::StrCat("vpp", l.vpp),
                          "AutoModel's stages all have the same number of layers; pp * vpp must "
                          "divide the model's layers");
    }
    settings.Set("chunk_layers", job.model.layers() / stages);
  }
  return absl::OkStatus();
}

absl::Status ResolveAutomodel(Settings& settings) {
  if (settings.CountOf("pp").value_or(1) > 1) return absl::OkStatus();
  settings.Set("sched", "1f1b");
  settings.Remove("chunk_layers");
  if (const std::string* batch = settings.Find("rank_batch")) settings.Set("mb", *batch);
  return absl::OkStatus();
}

absl::StatusOr<ExportedJob> ExportAutomodel(const ExportJob& job, const Settings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> keys, SpellAll(kAutomodelKeys, settings));
  ExportedJob exported = FileExport(
      job, "automodel.yaml",
      {absl::StrCat("on ", job.layout.devices(), " devices with NeMo AutoModel, for sequences of ",
                    job.training.seq_len,
                    " tokens. Put these keys into your recipe's file, and start it with")});
  exported.program = {"-m", "nemo_automodel.cli.app"};
  exported.argument_lines = {{exported.files.front().name}};
  FinishFile(exported, absl::StrCat(CommentLines(job.notes), YamlText(keys)));
  return exported;
}

}  // namespace

const Framework& AutomodelFramework() {
  static const Framework framework = {.name = "automodel",
                                      .release = "0.7",
                                      .profile = "automodel",
                                      .further_profiles = "automodel-deepep",
                                      .lacks = "AutoModel has no key for",
                                      .syntax = ConfigSyntax::kYaml,
                                      .tables = {kAutomodelKeys, LauncherNames(), NameTable()},
                                      .implied = "sched",
                                      .defaults = "dtype=bf16",
                                      .loads_models = true,
                                      .precisions = {Precision::kBf16, Precision::kFp32},
                                      .prepare = PrepareAutomodel,
                                      .write = ExportAutomodel,
                                      .resolve = ResolveAutomodel};
  return framework;
}

}  // namespace meshwright::planner

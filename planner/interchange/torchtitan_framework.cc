// torchtitan's Trainer.Config, with fields as in torchtitan/trainer.py and
// torchtitan/config/configs.py of release 0.3.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/interchange/export_job.h"
#include "planner/interchange/file_export.h"
#include "planner/interchange/framework.h"
#include "planner/interchange/torchtitan_models.h"
#include "planner/interchange/torchtitan_names.h"
#include "planner/layout/mesh.h"

namespace meshwright::planner {
namespace {

constexpr std::string_view kChunks = "8";  // ChunkedLossWrapper.Config's own default

absl::Status CheckDataParallel(const Layout& l) {
  if (l.zero == 1) {
    return CannotExport("zero1",
                        "torchtitan shards with FSDP or not at all; must be zero2 or zero3, or "
                        "zero0 without other axes than dp");
  }
  if (l.zero == 0 && l.cp > 1) {
    return CannotExport("zero0",
                        "torchtitan shards over context-parallel ranks; must be zero2 or "
                        "zero3 where cp is above 1");
  }
  if (l.zero == 0 && l.dp > 1 && int64_t{l.tp} * l.pp > 1) {
    return CannotExport("zero0",
                        "torchtitan replicates weights only where dp is the only axis; must be "
                        "zero2 or zero3 with tp or pp");
  }
  if (l.shard_ranks % l.cp != 0) {
    return CannotExport("hs",
                        "torchtitan divides states over whole context-parallel groups; must "
                        "be a multiple of cp");
  }
  return absl::OkStatus();
}

absl::Status CheckLacks(const Layout& l) {
  RETURN_IF_ERROR(CheckDataParallel(l));
  if (l.offload.any() && !(l.offload.gradients && l.offload.activation_layers == 0)) {
    return CannotExport("offload=" + FormatOffload(l.offload),
                        "torchtitan's training.enable_cpu_offload also offloads weights and "
                        "gradients; must be opt+param+grad");
  }
  if (l.tp > 1 && !l.sequence_parallel) {
    return CannotExport("sp0",
                        "torchtitan's tensor parallel is always sequence parallel; must be "
                        "sp1 where tp is above 1");
  }
  if (l.recompute == Recompute::kBlock || l.recompute == Recompute::kModules) {
    return CannotExport(
        absl::StrCat("rc=", FormatRecompute(l)),
        "torchtitan recomputes all layers alike and picks operators itself; must be none, "
        "selective or full");
  }
  const bool has_class = IsPlain(l.schedule) || l.schedule == ScheduleKind::kBreadthFirst ||
                         l.schedule == ScheduleKind::kZbV;
  if (!has_class) {
    return CannotExport(absl::StrCat("sched=", std::string(ScheduleName(l.schedule))),
                        "torchtitan does not have this schedule; must be gpipe, 1f1b, interleaved, "
                        "breadth_first or zb_v");
  }
  const bool for_pipelines =
      l.schedule == ScheduleKind::kBreadthFirst || l.schedule == ScheduleKind::kZbV;
  if (for_pipelines && l.pp == 1) {
    return CannotExport(absl::StrCat("sched=", std::string(ScheduleName(l.schedule))),
                        "torchtitan has schedules only for pipelines; must be 1f1b where pp is 1");
  }
  return absl::OkStatus();
}

std::vector<std::string> Comments(const ExportJob& job) {
  const Layout& l = job.layout;
  std::vector<std::string> comments;
  if (l.recompute == Recompute::kSelective) {
    comments.push_back(
        "rc=selective: torchtitan keeps every second matmul and the attention's output, where the");
    comments.push_back("estimate keeps all matmuls and runs norms and the FFN's activation again.");
  }
  if (l.schedule == ScheduleKind::kBreadthFirst) {
    comments.push_back(
        "sched=breadth_first: the order of micro-batches only; gradients are not "
        "reduced layer by layer.");
  }
  const bool casts = GroupSize(GroupRole::kReplicas, l) > 1 || l.devices() == 1;
  if (!casts && job.training.precision == Precision::kBf16) {
    comments.push_back(
        "bf16: torchtitan casts only under FSDP, DDP or on one device; with tp and "
        "pp alone it trains in fp32.");
  }
  if (l.attention != AttentionKernel::kDefault || l.norm != NormKernel::kDefault) {
    comments.push_back("attn and norm: torchtitan chooses its kernels itself.");
  }
  if (job.model.initializer_range != ModelSpec().initializer_range) {
    comments.push_back(absl::StrCat("initializer_range ", job.model.initializer_range,
                                    ": torchtitan draws the first weights by a rule of its own."));
  }
  return comments;
}

// Layers of a stage as torchtitan counts them: where they divide evenly, the ends hold as many as
// the rest; otherwise embedding and head take a layer's place each.
struct PipelineLayers {
  int64_t per_stage = 0;
  int64_t first_less = 0;  // layers fewer than per_stage
  int64_t last_less = 0;
};

PipelineLayers PipelineLayersOf(const ModelSpec& model, const Layout& layout) {
  const int64_t stages = int64_t{layout.pp} * layout.vpp;
  const StageSplit& split = layout.stages;
  if (!split.empty()) {
    const int64_t first = split.LayersOf(0);
    const int64_t last = split.LayersOf(stages - 1);
    const int64_t inner = stages > 2 ? split.LayersOf(1) : std::max(first, last);
    return {.per_stage = inner, .first_less = inner - first, .last_less = inner - last};
  }
  if (model.layers() % stages == 0) return {.per_stage = model.layers() / stages};
  return {.per_stage = (model.layers() + 2) / stages, .first_less = 1, .last_less = 1};
}

// torchtitan's stages are alike except for the first and the last, which may have fewer layers.
absl::Status CheckStages(const Layout& l) {
  const StageSplit& split = l.stages;
  const int64_t stages = split.stages();
  if (stages <= 2) return absl::OkStatus();
  const int64_t inner = split.LayersOf(1);
  bool alike = split.LayersOf(0) <= inner && split.LayersOf(stages - 1) <= inner;
  for (int64_t stage = 2; stage + 1 < stages; ++stage) {
    alike = alike && split.LayersOf(stage) == inner;
  }
  if (alike) return absl::OkStatus();
  return CannotExport(absl::StrCat("stages=", FormatStageSplit(split)),
                      "torchtitan's inner stages hold the same number of layers; must have at most "
                      "as many in the first and the last");
}

// A pipeline cuts a rank's whole share into micro-batches itself, and cannot be captured in a CUDA
// graph. Compiled backward passes cannot be split into the two parts that a zero-bubble schedule
// needs.
absl::Status PrepareTorchtitan(const ExportJob& job, Settings& settings) {
  const Layout& l = job.layout;
  RETURN_IF_ERROR(CheckTorchtitanModel(job.model));
  RETURN_IF_ERROR(CheckLacks(l));
  RETURN_IF_ERROR(CheckStages(l));
  if (job.training.quantisation().narrows()) {
    return FieldError("dtype", PrecisionName(job.training.precision),
                      "is not exported for torchtitan; must be bf16 or fp32");
  }
  if (job.training.options.loss_chunks == 0) {
    return FieldError("loss", "fused", "torchtitan has no fused loss; must be plain or chunked:N");
  }
  if (l.schedule == ScheduleKind::kBreadthFirst && l.vpp == 1) settings.Set("sched", "gpipe");
  const PipelineLayers layers = PipelineLayersOf(job.model, l);
  settings.Set("stage_layers", layers.per_stage);
  settings.Set("first_less", layers.first_less);
  settings.Set("last_less", layers.last_less);
  settings.Remove("stages");
  settings.Remove("offload");
  settings.Set("offload_all", l.offload.any() ? 1 : 0);
  if (l.pp > 1) {
    if (settings.TextOf("cuda_graphs", "none") != "none") {
      return FieldError(
          "cuda_graphs", settings.TextOf("cuda_graphs", ""),
          "torchtitan captures no CUDA graphs of a pipeline; must be none where pp is above 1");
    }
    settings.Set("cuda_graphs", "none");
  }
  if (l.schedule == ScheduleKind::kZbV) {
    if (job.training.options.compile == Compile::kOn) {
      return FieldError("compile", "on",
                        "a compiled backward can't be split; must be off for zb_v");
    }
    settings.Set("compile", "off");
  } else if (settings.Find("compile") == nullptr) {
    settings.Set("compile", "on");
  }
  return absl::OkStatus();
}

void AppendLoss(const ExportJob& job, std::string& text) {
  constexpr char kPlain[] =
      "CrossEntropyLoss.Config(global_vocab_size=decoder_vocab_size(model_spec))";
  const int32_t chunks = job.training.options.loss_chunks;
  if (chunks == 1) {
    absl::StrAppend(&text, "        loss=", kPlain, ",\n");
  } else {
    absl::StrAppend(&text,
                    "        loss=ChunkedLossWrapper.Config(\n            num_chunks=", chunks,
                    ",\n            loss_fn=", kPlain, ",\n        ),\n");
  }
}

// Returns the keyword arguments, those of one section in a call of its class.
std::string FieldLines(const std::vector<Spelling>& spellings) {
  std::string text;
  std::string section;
  const auto close = [&] {
    if (!section.empty()) absl::StrAppend(&text, "        ),\n");
  };
  for (const Spelling& spelling : spellings) {
    const std::string name(spelling.row->name);
    const size_t dot = name.find('.');
    const std::string inside = dot == std::string::npos ? "" : name.substr(0, dot);
    if (inside != section) {
      close();
      if (!inside.empty()) {
        std::string type = inside;
        type[0] = static_cast<char>(type[0] - 'a' + 'A');
        absl::StrAppend(&text, "        ", inside, "=", type, "Config(\n");
      }
      section = inside;
    }
    std::string value = spelling.value;
    if (spelling.row->quoted) value = absl::StrCat("\"", value, "\"");
    if (inside.empty() && value != "None") value += "()";
    absl::StrAppend(&text, inside.empty() ? "        " : "            ",
                    dot == std::string::npos ? name : name.substr(dot + 1), "=", value, ",\n");
  }
  close();
  return text;
}

absl::StatusOr<ExportedJob> ExportTorchtitan(const ExportJob& job, const Settings& settings) {
  ASSIGN_OR_RETURN(const std::vector<Spelling> spellings, SpellAll(TorchtitanNames(), settings));
  ExportedJob exported =
      FileExport(job, "layout.py",
                 {absl::StrCat("on ", job.layout.devices(),
                               " devices with torchtitan 0.3. Save this file as layout.py on the "
                               "PYTHONPATH, then:")});
  exported.program = {"-m", "torchtitan.train"};
  exported.argument_lines = {{"--module", "layout", "--config", "train"}};
  std::string text;
  const TorchtitanFlavor* flavor = FindTorchtitanFlavor(job.model);
  absl::StrAppend(&text, "# Data, tokenizer, learning rate and checkpoints are yours.\n",
                  CommentLines(job.notes), CommentLines(Comments(job)),
                  flavor == nullptr ? TorchtitanModelComment(job.model) : "");
  const char* policy = job.layout.recompute == Recompute::kFull        ? "FullAC"
                       : job.layout.recompute == Recompute::kSelective ? "SelectiveAC"
                                                                       : nullptr;
  absl::StrAppend(
      &text, "from torchtitan.components.loss import ",
      job.training.options.loss_chunks == 1 ? "" : "ChunkedLossWrapper, ",
      "CrossEntropyLoss\n"
      "from torchtitan.config import CompileConfig, ParallelismConfig, TrainingConfig\n",
      policy == nullptr
          ? ""
          : absl::StrCat("from torchtitan.distributed.activation_checkpoint import ", policy, "\n"),
      "from torchtitan.models.common.config_utils import decoder_vocab_size\n"
      "from torchtitan.models.",
      TorchtitanFamilyOf(job.model).name,
      " import model_registry\nfrom torchtitan.trainer import Trainer\n\n\n"
      "def train() -> Trainer.Config:\n    model_spec = model_registry(\"",
      flavor == nullptr ? "custom" : flavor->name,
      "\")\n    return Trainer.Config(\n        model_spec=model_spec,\n");
  AppendLoss(job, text);
  absl::StrAppend(&text, FieldLines(spellings), "    )\n");
  FinishFile(exported, std::move(text));
  return exported;
}

// Counts the stages as torchtitan does.
absl::Status ResolveStages(Settings& settings) {
  const int64_t pp = settings.CountOf("pp").value_or(1);
  const auto number = [&](const char* name, int64_t otherwise) {
    return settings.TextOf(name, "") == "0" ? 0 : settings.CountOf(name).value_or(otherwise);
  };
  const auto per_stage = settings.CountOf("stage_layers");
  const auto layers = settings.CountOf("layers");
  const int64_t first_less = number("first_less", 1);
  const int64_t last_less = number("last_less", 1);
  if (!per_stage) {
    const std::string sched = settings.TextOf("sched", "1f1b");
    settings.Set("vpp", sched == "1f1b" || sched == "gpipe" ? 1 : 2);
    return absl::OkStatus();
  }
  if (!layers) {
    return FieldError("stage_layers", *per_stage,
                      "needs the model's layers; --set layers=N gives them");
  }
  const int64_t stages = (*layers + first_less + last_less + *per_stage - 1) / *per_stage;
  if (stages % pp != 0 || stages < 2 || first_less > *per_stage || last_less > *per_stage) {
    return FieldError("stage_layers", *per_stage,
                      absl::StrCat("makes ", stages, " stages, which pp ", pp, " does not divide"));
  }
  settings.Set("vpp", stages / pp);
  const bool even = *layers % stages == 0;
  if (even ? first_less == 0 && last_less == 0 : first_less == 1 && last_less == 1) {
    return absl::OkStatus();
  }
  StageSplit split;
  if (!split.Add(1, *per_stage - first_less) || !split.Add(stages - 2, *per_stage) ||
      !split.Add(1, *per_stage - last_less) || split.layers() != *layers) {
    return FieldError("stage_layers", *per_stage, "does not say the layers of every stage");
  }
  settings.Set("stages", FormatStageSplit(split));
  return absl::OkStatus();
}

void ResolveModel(Settings& settings) {
  const TorchtitanFlavor* flavor =
      FindTorchtitanFlavor(settings.TextOf("family", ""), settings.TextOf("flavor", ""));
  if (flavor == nullptr) return;
  settings.Set("layers", flavor->layers);
  settings.Set("hidden", flavor->hidden);
  settings.Set("ffn", flavor->ffn_hidden);
  settings.Set("heads", flavor->heads);
  settings.Set("vocab", flavor->family.vocab);
}

absl::Status ResolveTorchtitan(Settings& settings) {
  ResolveModel(settings);
  const int64_t pp = settings.CountOf("pp").value_or(1);
  const int64_t tp = settings.CountOf("tp").value_or(1);
  if (settings.TextOf("shards", "-1") == "-1") settings.Remove("shards");
  if (settings.TextOf("global_batch", "-1") == "-1") settings.Remove("global_batch");
  const bool shards =
      settings.CountOf("shards").value_or(2) > 1 || settings.CountOf("cp").value_or(1) > 1;
  if (!shards) {
    settings.Set("zero", 0);
  } else if (settings.TextOf("zero", "default") == "default") {
    settings.Set("zero", pp > 1 ? 2 : 3);
  }
  if (settings.Find("sp") == nullptr || tp == 1) settings.Set("sp", tp > 1 ? 1 : 0);
  if (settings.IsOn("chunked")) {
    settings.Set("loss", absl::StrCat("chunked:", settings.TextOf("loss", kChunks)));
  }
  if (pp == 1) {
    settings.Set("sched", "1f1b");
    if (const std::string* batch = settings.Find("rank_batch")) settings.Set("mb", *batch);
    return absl::OkStatus();
  }
  if (settings.Find("sched") == nullptr) settings.Set("sched", "1f1b");
  if (settings.Find("mb") == nullptr) settings.Set("mb", 1);
  return ResolveStages(settings);
}

}  // namespace

const Framework& TorchtitanFramework() {
  static const Framework framework = {
      .name = "torchtitan",
      .release = "0.3",
      .profile = "torchtitan-fsdp",
      .further_profiles = "torchtitan torchtitan-eager torchtitan-async-tp",
      .lacks = "torchtitan has no setting for",
      .syntax = ConfigSyntax::kPython,
      .tables = {TorchtitanNames(), LauncherNames(), NameTable()},
      .implied = "dp sp vpp attn norm loss",
      .keys = KeyUser::kTorchtitan,
      .parts = {ModelPart::kRotaryPositions, ModelPart::kRmsNorm},
      .ffns = {FfnKind::kSwiGlu},
      .precisions = {Precision::kBf16, Precision::kFp32, Precision::kFp8Delayed,
                     Precision::kFp8Current, Precision::kFp8Blockwise, Precision::kMxfp8,
                     Precision::kNvfp4},
      .prepare = PrepareTorchtitan,
      .write = ExportTorchtitan,
      .resolve = ResolveTorchtitan};
  return framework;
}

}  // namespace meshwright::planner

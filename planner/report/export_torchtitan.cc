#include <algorithm>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/layout/mesh.h"
#include "planner/profile/part_refusal.h"
#include "planner/report/aside_keys.h"
#include "planner/report/export_job.h"

namespace meshwright::planner {
namespace {

// The properties that all of torchtitan's models of one name have in common.
struct Family {
  const char* name;
  int64_t vocab;
  double norm_epsilon;
  double rope_theta;
  RopeScaling rope_scaling;
};

// torchtitan's Llama 3 is Llama 3.1: the scaling of the rotary embedding cannot be turned off, only
// given another factor.
constexpr Family kLlama3 = {
    "llama3", 128256, 1e-5, 500000.0, {.kind = RopeScalingKind::kLlama3, .factor = 8.0}};
constexpr Family kQwen3 = {"qwen3", 151936, 1e-6, 1000000.0, {}};

// CheckModel accepts models of one layer group alone, so this holds for all layers.
const Attention& AttentionOf(const ModelSpec& model) { return model.groups.front().attention; }

const Family& FamilyOf(const ModelSpec& model) {
  return AttentionOf(model).qk_norm ? kQwen3 : kLlama3;
}

// A model that torchtitan has under a name of its own.
struct Flavor {
  const char* name;
  const Family& family;
  int64_t hidden, layers, heads, kv_heads, ffn_hidden;
  int64_t head_dim = 128;
  bool tied_embeddings = false;
};

constexpr Flavor kFlavors[] = {
    {"8B", kLlama3, 4096, 32, 32, 8, 14336},
    {"70B", kLlama3, 8192, 80, 64, 8, 28672},
    {"405B", kLlama3, 16384, 126, 128, 8, 53248},
    {"0.6B", kQwen3, 1024, 28, 16, 8, 3072, 128, true},
    {"1.7B", kQwen3, 2048, 28, 16, 8, 6144, 128, true},
    {"4B", kQwen3, 2560, 36, 32, 8, 9728, 128, true},
    {"8B", kQwen3, 4096, 36, 32, 8, 12288},
    {"14B", kQwen3, 5120, 40, 40, 8, 17408},
    {"32B", kQwen3, 5120, 64, 64, 8, 25600},
};

// Mistral 7B has the shape of Llama 3 8B except for the vocabulary, and Llama 3 8B differs from
// Llama 3.1 8B in the rotary embedding alone.
const Flavor* FindFlavor(const ModelSpec& model) {
  const Family& family = FamilyOf(model);
  if (model.vocab != family.vocab || model.norm_epsilon != family.norm_epsilon ||
      model.rope_theta != family.rope_theta || model.rope_scaling != family.rope_scaling) {
    return nullptr;
  }
  const Attention& attention = AttentionOf(model);
  for (const Flavor& flavor : kFlavors) {
    if (&flavor.family == &family && flavor.hidden == model.hidden &&
        flavor.layers == model.layers() && flavor.heads == attention.heads &&
        flavor.kv_heads == attention.kv_heads &&
        flavor.ffn_hidden == model.groups.front().ffn.hidden &&
        flavor.head_dim == attention.head_dim && flavor.tied_embeddings == model.tied_embeddings) {
      return &flavor;
    }
  }
  return nullptr;
}

absl::Status CheckRope(const ModelSpec& model) {
  const RopeScalingKind kind = model.rope_scaling.kind;
  if (kind == RopeScalingKind::kLinear) {
    return FieldError("rope_scaling.rope_type", RopeScalingName(kind),
                      "torchtitan has no such scaling; must be default or, for Llama, llama3");
  }
  if (kind == RopeScalingKind::kLlama3 && AttentionOf(model).qk_norm) {
    return FieldError("rope_scaling.rope_type", RopeScalingName(kind),
                      "torchtitan's Qwen3 has no scaled rotary embedding; must be default");
  }
  return absl::OkStatus();
}

// Checks what torchtitan's Llama 3 derives or leaves out, where Qwen3 has an argument.
absl::Status CheckLlama3(const ModelSpec& model) {
  if (model.tied_embeddings) {
    return FieldError("tie_word_embeddings", "true",
                      "torchtitan's Llama 3 has a head of its own; must be false");
  }
  if (AttentionOf(model).query_width() != model.hidden) {
    return FieldError("head_dim", AttentionOf(model).head_dim,
                      "torchtitan's Llama 3 divides hidden_size among the heads; must be "
                      "hidden_size / num_attention_heads");
  }
  return absl::OkStatus();
}

absl::Status Refuse(const ModelSpec& model, const std::string& part) {
  return RefuseParts(model, {part}, {}, "torchtitan has no setting for",
                     "estimate and recommend plan it");
}

absl::Status CheckModel(const ModelSpec& model) {
  if (model.groups.size() > 1) return Refuse(model, kShapesPart);
  if (AttentionOf(model).qkv_bias) return Refuse(model, kQkvBiasPart);
  RETURN_IF_ERROR(CheckRope(model));
  RETURN_IF_ERROR(
      AsideKeys(model, KeyUser::kTorchtitan).CheckSaid("torchtitan has no setting for"));
  return AttentionOf(model).qk_norm ? absl::OkStatus() : CheckLlama3(model);
}

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
                        "torchtitan replicates only where dp is the one axis; must be "
                        "zero2 or zero3 beside tp and pp");
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
  if (l.offload.any()) {
    return CannotExport("offload=" + FormatOffload(l.offload),
                        "torchtitan's training.enable_cpu_offload moves weights and gradients as "
                        "well; must be left out");
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

const char* ScheduleClass(const Layout& layout) {
  switch (layout.schedule) {
    case ScheduleKind::kGpipe:
      return "GPipe";
    case ScheduleKind::kInterleaved:
      return "Interleaved1F1B";
    case ScheduleKind::kBreadthFirst:
      // One chunk per rank makes it GPipe, and LoopedBFS requires several.
      return layout.vpp == 1 ? "GPipe" : "LoopedBFS";
    case ScheduleKind::kZbV:
      return "ZBVZeroBubble";
    default:
      return "1F1B";
  }
}

std::vector<std::string> Comments(const ExportJob& job) {
  const Layout& l = job.layout;
  std::vector<std::string> comments;
  if (l.recompute == Recompute::kSelective) {
    comments.push_back(
        "rc=selective: torchtitan keeps every second matmul and the attention's output, where the "
        "estimate keeps\n# all matmuls and runs norms and the FFN's activation again.");
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

// Returns the arguments that only one of the two families has.
std::string FamilyArguments(const ModelSpec& model) {
  if (AttentionOf(model).qk_norm) {
    return absl::StrCat(",\n# head_dim ", AttentionOf(model).head_dim, ", enable_weight_tying ",
                        model.tied_embeddings ? "True" : "False");
  }
  const RopeScaling& scaling = model.rope_scaling;  // a factor of 1 where there is none
  return absl::StrCat(",\n# rope_scaling_args with scaling_factor ", scaling.factor,
                      ", low_freq_factor ", scaling.low_freq_factor, ", high_freq_factor ",
                      scaling.high_freq_factor, ",\n# original_max_position_embeddings ",
                      scaling.original_max_positions);
}

void AppendModel(const ModelSpec& model, std::string& text) {
  const Flavor* flavor = FindFlavor(model);
  absl::StrAppend(&text, "\n[model]\nname = \"", FamilyOf(model).name, "\"\n");
  if (flavor != nullptr) {
    absl::StrAppend(&text, "flavor = \"", flavor->name, "\"\n");
    return;
  }
  absl::StrAppend(&text, "# torchtitan has no flavor of this model; add one: dim ", model.hidden,
                  ", n_layers ", model.layers(), ", n_heads ", AttentionOf(model).heads,
                  ", n_kv_heads ", AttentionOf(model).kv_heads, ",\n# FFN width ",
                  model.groups.front().ffn.hidden, ", vocab_size ", model.vocab, ", norm_eps ",
                  model.norm_epsilon, ", rope_theta ", model.rope_theta, FamilyArguments(model),
                  ".\nflavor = \"custom\"\n");
}

void AppendTraining(const ExportJob& job, std::string& text) {
  const Layout& l = job.layout;
  const int64_t per_rank = job.training.global_batch / l.dp;
  // A pipeline takes a rank's whole share at once and cuts it into micro-batches itself; without
  // one, torchtitan accumulates gradients over batches of local_batch_size.
  absl::StrAppendFormat(
      &text,
      "\n[training]\nlocal_batch_size = %d\nglobal_batch_size = %d\nseq_len = %d\n"
      "mixed_precision_param = \"%s\"\n",
      l.pp > 1 ? per_rank : int64_t{l.micro_batch}, job.training.global_batch, job.training.seq_len,
      job.training.precision == Precision::kBf16 ? "bfloat16" : "float32");
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
                      "torchtitan's stages hold the same number of layers; must have fewer in the "
                      "first and the last alone");
}

void AppendPipeline(const ExportJob& job, std::string& text) {
  const Layout& l = job.layout;
  const PipelineLayers layers = PipelineLayersOf(job.model, l);
  absl::StrAppendFormat(&text,
                        "pipeline_parallel_schedule = \"%s\"\n"
                        "pipeline_parallel_layers_per_stage = %d\n"
                        "pipeline_parallel_first_stage_less_layers = %d\n"
                        "pipeline_parallel_last_stage_less_layers = %d\n"
                        "pipeline_parallel_microbatch_size = %d\n",
                        ScheduleClass(l), layers.per_stage, layers.first_less, layers.last_less,
                        l.micro_batch);
}

void AppendParallelism(const ExportJob& job, std::string& text) {
  const Layout& l = job.layout;
  const bool shards = l.zero >= 2;
  // torchtitan's shard degree does not include the context-parallel ranks, which it also shards
  // over.
  const int64_t shard_degree = shards ? ShardRanks(l) / l.cp : 1;
  absl::StrAppendFormat(&text,
                        "\n[parallelism]\ndata_parallel_replicate_degree = %d\n"
                        "data_parallel_shard_degree = %d\n",
                        l.dp / shard_degree, shard_degree);
  if (shards) {
    absl::StrAppendFormat(&text, "fsdp_reshard_after_forward = \"%s\"\n",
                          l.zero == 3 ? "always" : "never");
  }
  absl::StrAppendFormat(&text,
                        "tensor_parallel_degree = %d\nenable_async_tensor_parallel = false\n"
                        "context_parallel_degree = %d\npipeline_parallel_degree = %d\n",
                        l.tp, l.cp, l.pp);
  if (l.pp > 1) AppendPipeline(job, text);
}

void AppendRecompute(const Layout& layout, std::string& text) {
  const std::string mode(RecomputeName(layout.recompute));
  absl::StrAppend(&text, "\n[activation_checkpoint]\nmode = \"", mode, "\"\n");
  if (layout.recompute == Recompute::kSelective) {
    absl::StrAppend(&text, "selective_ac_option = \"op\"\n");
  }
}

}  // namespace

absl::StatusOr<std::string> ExportTorchtitan(const ExportJob& job) {
  RETURN_IF_ERROR(CheckModel(job.model));
  RETURN_IF_ERROR(CheckLacks(job.layout));
  RETURN_IF_ERROR(CheckStages(job.layout));
  if (job.training.quantisation().narrows()) {
    return FieldError("dtype", PrecisionName(job.training.precision),
                      "is not exported for torchtitan; must be bf16 or fp32");
  }
  std::string text =
      CommentLines({absl::StrCat(job.model.name, " as ", FormatLayout(job.layout)),
                    absl::StrCat("on ", job.layout.devices(), " devices with torchtitan:")});
  const NodePlacement placed = PlacementOf(job);
  absl::StrAppendFormat(&text,
                        "#   torchrun --nnodes %d --nproc-per-node %d -m torchtitan.train "
                        "--job.config_file THIS_FILE\n",
                        placed.nodes, placed.per_node);
  if (!placed.fills_last()) {
    absl::StrAppendFormat(&text, "# On the last node --nproc-per-node is %d.\n", placed.on_last);
  }
  absl::StrAppend(&text, "# Data, tokenizer, learning rate and checkpoints are yours.\n",
                  CommentLines(job.notes), CommentLines(Comments(job)));
  AppendModel(job.model, text);
  AppendTraining(job, text);
  AppendParallelism(job, text);
  AppendRecompute(job.layout, text);
  // Compiled backward passes cannot be split into the two parts that a zero-bubble schedule needs.
  absl::StrAppend(&text, "\n[compile]\nenable = ",
                  job.layout.schedule == ScheduleKind::kZbV ? "false" : "true", "\n");
  return text;
}

}  // namespace meshwright::planner

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/status_macros.h"
#include "planner/layout/mesh.h"
#include "planner/report/export_job.h"
#include "planner/report/megatron_hybrid.h"
#include "planner/report/megatron_model.h"

namespace meshwright::planner {
namespace {

bool Shards(const Layout& layout) { return GroupSize(GroupRole::kReplicas, layout) > 1; }
bool UsesFsdp(const Layout& layout) { return layout.zero >= 2; }

absl::Status CheckSchedule(const Layout& layout) {
  switch (layout.schedule) {
    case ScheduleKind::k1f1b:
    case ScheduleKind::kInterleaved:
      return absl::OkStatus();
    case ScheduleKind::kGpipe:
      if (layout.pp == 1) return absl::OkStatus();  // one stage accumulates gradients either way
      break;
    default:
      break;
  }
  std::string part = "sched=";
  part.append(ScheduleName(layout.schedule));
  return CannotExport(part, "Megatron-LM does not have this schedule; must be 1f1b or interleaved");
}

// Returns Megatron-LM's own notation: E is the embedding, t a layer, m a multi-token-prediction
// layer, L the loss; | ends a stage.
std::string PipelineLayout(const StageSplit& split, int64_t mtp_layers) {
  const int64_t last = split.stages() - 1;
  std::string text = "E";
  int64_t stage = 0;
  for (const StageRun& run : split.runs()) {
    const std::string layers(run.layers, 't');
    int64_t inner = run.stages;
    if (stage == 0) {
      absl::StrAppend(&text, layers, last > 0 ? "|" : "");
      --inner;
    }
    stage += run.stages;
    if (stage > last && last > 0) --inner;
    if (inner > 0) absl::StrAppend(&text, "(", layers, "|)*", inner);
    if (stage > last && last > 0) absl::StrAppend(&text, layers);
  }
  return text + std::string(mtp_layers, 'm') + "L";
}

// A hybrid's pattern names the stages.
void AddStages(const ExportJob& job, std::vector<std::string>& flags) {
  const Layout& layout = job.layout;
  if (IsHybrid(job.model)) {
    flags.push_back("--hybrid-layer-pattern '" + HybridPattern(job.model, layout) + "'");
    flags.push_back("--spec megatron.core.models.hybrid.hybrid_layer_specs hybrid_stack_spec");
    return;
  }
  // If the layout names the stages, Megatron-LM counts the chunks itself.
  if (layout.vpp > 1 && layout.stages.empty()) {
    flags.push_back(absl::StrFormat("--num-virtual-stages-per-pipeline-rank %d", layout.vpp));
  }
  if (!layout.stages.empty()) {
    flags.push_back("--pipeline-model-parallel-layout '" +
                    PipelineLayout(layout.stages, job.model.mtp_layers) + "'");
  } else if (job.model.layers() % (int64_t{layout.pp} * layout.vpp) != 0) {
    flags.push_back(
        "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split");
  }
}

void AddParallelism(const ExportJob& job, MegatronScript& script) {
  const Layout& layout = job.layout;
  auto& flags = script.flags;
  flags.push_back(
      absl::StrFormat("--tensor-model-parallel-size %d --pipeline-model-parallel-size %d "
                      "--context-parallel-size %d",
                      layout.tp, layout.pp, layout.cp));
  AddStages(job, flags);
  // Sparse attention divides a sequence in no other way.
  if (layout.cp > 1 && job.model.FirstAttention().index.exists()) {
    flags.push_back("--cp-comm-type allgather");
  }
  if (layout.sequence_parallel) flags.push_back("--sequence-parallel");
  if (job.model.has_experts()) {
    // Without the second flag, expert tensor parallel would default to tp.
    flags.push_back(absl::StrFormat(
        "--expert-model-parallel-size %d --expert-tensor-parallel-size %d", layout.ep, layout.etp));
  }
}

void AddDataParallel(const Layout& layout, MegatronScript& script) {
  auto& flags = script.flags;
  if (UsesFsdp(layout)) {
    flags.push_back(absl::StrCat("--use-megatron-fsdp --data-parallel-sharding-strategy ",
                                 layout.zero == 2 ? "optim_grads" : "optim_grads_params"));
    flags.push_back("--no-gradient-accumulation-fusion --ckpt-format fsdp_dtensor");
  }
  if (layout.zero >= 1) {
    flags.push_back("--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather");
    const int64_t copies = GroupSize(GroupRole::kCopies, layout);
    if (copies > 1) {
      flags.push_back(absl::StrCat("--num-distributed-optimizer-instances ", copies));
      if (UsesFsdp(layout)) flags.push_back("--outer-dp-sharding-strategy no_shard");
    }
  } else if (Shards(layout)) {
    flags.push_back("--overlap-grad-reduce");
  }
}

// Returns how many of Megatron-LM's layers `layers` of the model are. Returns InvalidArgument about
// `part` of the layout if the number depends on which layers these are.
absl::StatusOr<int64_t> CountedLayers(const ModelSpec& model, int64_t layers,
                                      const std::string& part) {
  if (const std::optional<int64_t> each = MegatronLayersEach(model)) return layers * *each;
  return CannotExport(part,
                      "Megatron-LM counts mixers and FFNs, and this model's layers have different "
                      "numbers of them; must be for no layers");
}

absl::Status AddRecompute(const ExportJob& job, MegatronScript& script) {
  const Layout& layout = job.layout;
  auto& flags = script.flags;
  switch (layout.recompute) {
    case Recompute::kNone:
      return absl::OkStatus();
    case Recompute::kSelective:
      flags.push_back("--recompute-activations");
      return absl::OkStatus();
    case Recompute::kModules:
      flags.push_back("--recompute-granularity selective --recompute-modules " +
                      NamesOf(layout.recompute_modules, RecomputeModuleName, " "));
      return absl::OkStatus();
    case Recompute::kFull:
      flags.push_back(
          absl::StrFormat("--recompute-granularity full --recompute-method uniform "
                          "--recompute-num-layers %d",
                          MegatronLayersEach(job.model).value_or(1)));
      return absl::OkStatus();
    case Recompute::kBlock: {
      ASSIGN_OR_RETURN(const int64_t layers, CountedLayers(job.model, layout.recompute_layers,
                                                           "rc=" + FormatRecompute(layout)));
      flags.push_back(
          absl::StrFormat("--recompute-granularity full --recompute-method block "
                          "--recompute-num-layers %d",
                          layers));
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

// Megatron-LM's offloaded optimizer uses the distributed optimizer's code, and Transformer Engine
// leaves the last layer of a model on the device.
absl::Status AddOffload(const ExportJob& job, MegatronScript& script) {
  const Layout& layout = job.layout;
  const Offload& offload = layout.offload;
  if (offload.activation_layers > 0) {
    if (offload.activation_layers >= job.model.layers()) {
      return CannotExport(
          absl::StrCat("offload=act:", offload.activation_layers),
          absl::StrCat("Megatron-LM offloads fewer layers than the model's ", job.model.layers(),
                       "; must be at most act:", job.model.layers() - 1));
    }
    ASSIGN_OR_RETURN(const int64_t layers,
                     CountedLayers(job.model, offload.activation_layers,
                                   absl::StrCat("offload=act:", offload.activation_layers)));
    script.flags.push_back(absl::StrCat("--cpu-offloading-num-layers ", layers));
  }
  if (offload.parameters) {
    return CannotExport("offload=" + FormatOffload(offload),
                        "Megatron-LM keeps weights on the device; must be opt");
  }
  if (!offload.optimizer) return absl::OkStatus();
  if (UsesFsdp(layout) || (layout.zero == 0 && Shards(layout))) {
    return CannotExport(absl::StrCat("zero", layout.zero),
                        "Megatron-LM offloads the states of its distributed optimizer; must be "
                        "zero1 with offload=opt");
  }
  if (layout.zero == 0) script.flags.push_back("--use-distributed-optimizer");
  script.flags.push_back(
      "--optimizer-cpu-offload --optimizer-offload-fraction 1.0 --overlap-cpu-optimizer-d2h-h2d "
      "--use-precision-aware-optimizer");
  return absl::OkStatus();
}

void AddRecipe(Precision precision, MegatronScript& script) {
  const auto fp8 = [&script](const char* recipe) {
    script.flags.push_back(absl::StrCat("--fp8-format hybrid --fp8-recipe ", recipe));
  };
  switch (precision) {
    case Precision::kFp8Delayed:
      return fp8("delayed");
    case Precision::kFp8Current:
      return fp8("tensorwise");
    case Precision::kFp8Blockwise:
      return fp8("blockwise");
    case Precision::kMxfp8:
      return fp8("mxfp8");
    case Precision::kNvfp4:
      script.flags.push_back("--fp4-format e2m1 --fp4-recipe nvfp4");
      return;
    case Precision::kBf16:
    case Precision::kFp16:
    case Precision::kFp32:
    case Precision::kFp64:
      return;
  }
}

void AddKernels(const ExportJob& job, MegatronScript& script) {
  auto& flags = script.flags;
  const NumberFormat format = job.training.formats().activations;
  const bool in_half = BytesOf(format) == BytesOf(NumberFormat::kBf16);
  switch (job.layout.attention) {
    case AttentionKernel::kFusedSoftmax:
      flags.push_back("--attention-backend unfused");
      break;
    case AttentionKernel::kEager:
      flags.push_back("--attention-backend unfused --no-masked-softmax-fusion");
      break;
    case AttentionKernel::kCudnn:
      flags.push_back("--attention-backend fused");
      break;
    case AttentionKernel::kFlash1:
    case AttentionKernel::kFlash3: {
      std::string name(AttentionKernelName(job.layout.attention));
      script.comments.push_back("attn=" + name +
                                ": Transformer Engine takes the newest flash-attn it finds "
                                "installed; no flag names a version.");
      flags.push_back("--attention-backend flash");
      break;
    }
    case AttentionKernel::kDefault:
    case AttentionKernel::kFlash2:
      // Flash attention does not take fp32.
      flags.push_back(in_half ? "--attention-backend flash" : "--attention-backend auto");
      break;
  }
  if (job.layout.norm == NormKernel::kEager) {
    script.comments.push_back(
        "norm=eager: Transformer Engine's norm is fused, so this run is faster and smaller than "
        "estimated.");
  }
  if (in_half) flags.push_back(format == NumberFormat::kFp16 ? "--fp16" : "--bf16");
  AddRecipe(job.training.precision, script);
}

// Returns the start of the command, and what precedes it.
std::string Torchrun(const NodePlacement& placed) {
  if (placed.fills_last()) {
    return absl::StrFormat("torchrun --nnodes %d --nproc-per-node %d", placed.nodes,
                           placed.per_node);
  }
  return absl::StrFormat(
      "# The last of %d nodes runs fewer processes; every node needs its NODE_RANK.\n"
      "processes=%d\nif [ \"${NODE_RANK:-0}\" -eq %d ]; then processes=%d; fi\n"
      "torchrun --nnodes %d --nproc-per-node \"$processes\"",
      placed.nodes, placed.per_node, placed.nodes - 1, placed.on_last, placed.nodes);
}

}  // namespace

absl::StatusOr<std::string> ExportMegatron(const ExportJob& job) {
  const Layout& layout = job.layout;
  RETURN_IF_ERROR(CheckSchedule(layout));
  MegatronScript script;
  AddParallelism(job, script);
  AddDataParallel(layout, script);
  script.flags.push_back(absl::StrFormat("--micro-batch-size %d --global-batch-size %d",
                                         layout.micro_batch, job.training.global_batch));
  RETURN_IF_ERROR(AddRecompute(job, script));
  RETURN_IF_ERROR(AddOffload(job, script));
  RETURN_IF_ERROR(AddModel(job.model, job.training.seq_len, script));
  AddKernels(job, script);

  std::string text = "#!/usr/bin/env bash\n" +
                     CommentLines({absl::StrCat(job.model.name, " as ", FormatLayout(layout))});
  absl::StrAppend(&text, "# on ", layout.devices(),
                  " devices with Megatron-LM. Data, tokenizer, learning rate and checkpoints are "
                  "yours: pass their\n# flags to this script.\n");
  absl::StrAppend(&text, CommentLines(job.notes), CommentLines(script.comments));
  // Tensor and context parallel need their collectives in launch order; FSDP needs them unordered.
  if (UsesFsdp(layout)) {
    absl::StrAppend(&text, "unset CUDA_DEVICE_MAX_CONNECTIONS\n");
  } else if (layout.tp > 1 || layout.cp > 1) {
    absl::StrAppend(&text, "export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
  }
  absl::StrAppend(&text, Torchrun(PlacementOf(job)), " \\\n",
                  "  --node-rank \"${NODE_RANK:-0}\" --master-addr \"${MASTER_ADDR:-localhost}\" "
                  "--master-port \"${MASTER_PORT:-29500}\" \\\n",
                  IsHybrid(job.model) ? "  pretrain_hybrid.py" : "  pretrain_gpt.py", " \\\n  ",
                  absl::StrJoin(script.flags, " \\\n  "), " \\\n  \"$@\"\n");
  return text;
}

}  // namespace meshwright::planner

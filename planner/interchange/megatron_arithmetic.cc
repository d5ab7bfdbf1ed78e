#include "planner/interchange/megatron_arithmetic.h"

#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/interchange/megatron_hybrid.h"
#include "planner/layout/mesh.h"

namespace meshwright::planner {
namespace {

// The most characters of a notation with all repetitions written out: the layers of a model and a
// sign for each stage.
constexpr size_t kMostNotation = size_t{1} << 16;

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

// Returns how many of Megatron-LM's layers `layers` of the model are. Returns InvalidArgument about
// `part` of the layout if the number depends on which layers these are.
absl::StatusOr<int64_t> CountedLayers(const ModelSpec& model, int64_t layers,
                                      const std::string& part) {
  if (const std::optional<int64_t> each = MegatronLayersEach(model)) return layers * *each;
  return CannotExport(part,
                      "Megatron-LM counts mixers and FFNs as layers, and this model's layers have "
                      "different numbers of these; must be without a number of layers");
}

// A hybrid's pattern names the stages. If the layout names them, Megatron-LM counts the chunks
// itself.
void PrepareStages(const ExportJob& job, Settings& settings) {
  const Layout& layout = job.layout;
  settings.Remove("stages");
  if (IsHybrid(job.model)) {
    settings.Remove("vpp");
    settings.Set("hybrid_pattern", HybridPattern(job.model, layout));
    return;
  }
  if (!layout.stages.empty()) {
    settings.Remove("vpp");
    settings.Set("pipeline_layout", PipelineLayout(layout.stages, job.model.mtp_layers));
  } else if (job.model.layers() % (int64_t{layout.pp} * layout.vpp) != 0) {
    settings.Set("uneven_ends", 1);
  }
}

absl::Status PrepareRecompute(const ExportJob& job, Settings& settings) {
  const Layout& layout = job.layout;
  settings.Remove("rc");
  if (layout.recompute == Recompute::kFull) {
    settings.Set("recompute_layers", MegatronLayersEach(job.model).value_or(1));
  } else if (layout.recompute == Recompute::kBlock) {
    ASSIGN_OR_RETURN(const int64_t layers, CountedLayers(job.model, layout.recompute_layers,
                                                         "rc=" + FormatRecompute(layout)));
    settings.Set("recompute_layers", layers);
  }
  return absl::OkStatus();
}

// Megatron-LM's offloaded optimizer uses the distributed optimizer's code, and Transformer Engine
// leaves the last layer of a model on the device.
absl::Status PrepareOffload(const ExportJob& job, Settings& settings) {
  const Layout& layout = job.layout;
  const Offload& offload = layout.offload;
  settings.Remove("offload");
  if (offload.activation_layers > 0) {
    const std::string part = absl::StrCat("offload=act:", offload.activation_layers);
    if (offload.activation_layers >= job.model.layers()) {
      return CannotExport(
          part, absl::StrCat("Megatron-LM offloads fewer layers than the model's ",
                             job.model.layers(), "; must be at most act:", job.model.layers() - 1));
    }
    ASSIGN_OR_RETURN(const int64_t layers,
                     CountedLayers(job.model, offload.activation_layers, part));
    settings.Set("offload_layers", layers);
  }
  if (offload.parameters) {
    return CannotExport("offload=" + FormatOffload(offload),
                        "Megatron-LM keeps weights on the device; must be opt");
  }
  if (!offload.optimizer) return absl::OkStatus();
  if (layout.zero >= 2 || (layout.zero == 0 && GroupSize(GroupRole::kReplicas, layout) > 1)) {
    return CannotExport(absl::StrCat("zero", layout.zero),
                        "Megatron-LM offloads the states of its distributed optimizer; must be "
                        "zero1 with offload=opt");
  }
  if (layout.zero == 0) settings.Set("offloads_alone", 1);
  return absl::OkStatus();
}

absl::Status NotationError(std::string_view text) {
  return FieldError("pipeline_layout", text,
                    "must have an E, layers t, an L at the end and a | between stages");
}

// Returns the notation without repetitions: "(tt|)*2" is "tt|tt|", and "t*3" is "ttt".
absl::StatusOr<std::string> WrittenOut(std::string_view text) {
  std::string flat;
  for (size_t i = 0; i < text.size();) {
    std::string piece(1, text[i]);
    size_t next = i + 1;
    if (text[i] == '(') {
      const size_t end = text.find(')', i);
      if (end == std::string_view::npos) return NotationError(text);
      piece = std::string(text.substr(i + 1, end - i - 1));
      next = end + 1;
    }
    size_t times = 1;
    if (next < text.size() && text[next] == '*') {
      ++next;
      times = 0;
      while (next < text.size() && absl::ascii_isdigit(static_cast<unsigned char>(text[next])) &&
             times < kMostNotation) {
        times = times * 10 + static_cast<size_t>(text[next++] - '0');
      }
    }
    if (times * piece.size() + flat.size() > kMostNotation) return NotationError(text);
    for (size_t n = 0; n < times; ++n) flat += piece;
    i = next;
  }
  return flat;
}

}  // namespace

bool NamesFlashRelease(const Layout& layout) {
  const AttentionKernel kernel = layout.attention;
  return kernel == AttentionKernel::kFlash1 || kernel == AttentionKernel::kFlash3 ||
         kernel == AttentionKernel::kFlash4;
}

absl::Status CheckFlashRelease(const Layout& layout) {
  if (!NamesFlashRelease(layout)) return absl::OkStatus();
  return CannotExport(
      absl::StrCat("attn=", std::string(AttentionKernelName(layout.attention))),
      "Transformer Engine takes the newest flash-attn that is installed; must be left out");
}

absl::Status PrepareMegatron(const ExportJob& job, Settings& settings) {
  const Layout& layout = job.layout;
  RETURN_IF_ERROR(CheckSchedule(layout));
  PrepareStages(job, settings);
  if (layout.cp > 1 && job.model.FirstAttention().index.exists()) {
    settings.Set("sparse_context", 1);  // sparse attention divides a sequence in no other way
  }
  if (layout.zero == 0) settings.Remove("copies");
  RETURN_IF_ERROR(PrepareRecompute(job, settings));
  RETURN_IF_ERROR(PrepareOffload(job, settings));
  // Flash attention does not take fp32.
  const NumberFormat format = job.training.formats().activations;
  if (layout.attention == AttentionKernel::kDefault &&
      BytesOf(format) != BytesOf(NumberFormat::kBf16)) {
    settings.Set("attn", "auto");
  }
  return absl::OkStatus();
}

absl::Status ResolveMegatron(Settings& settings) {
  RETURN_IF_ERROR(ResolveHybrid(settings));
  const std::string* text = settings.Find("pipeline_layout");
  if (text == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string flat, WrittenOut(*text));
  StageSplit split;
  int64_t layers = 0;
  for (size_t i = 0; i < flat.size(); ++i) {
    const char c = flat[i];
    if (c == 't') ++layers;
    if (c != 't' && c != '|' && c != 'm' && !(c == 'E' && i == 0) &&
        !(c == 'L' && i + 1 == flat.size())) {
      return NotationError(*text);
    }
    if (c == '|' || i + 1 == flat.size()) {
      if (!split.Add(1, layers)) {
        return FieldError("pipeline_layout", *text, "has more runs of stages than stages= holds");
      }
      layers = 0;
    }
  }
  settings.Set("stages", FormatStageSplit(split));
  const int64_t pp = settings.CountOf("pp").value_or(1);
  if (split.stages() % pp != 0) {
    return FieldError("pipeline_layout", *text,
                      absl::StrCat("must have a multiple of ", pp, " stages"));
  }
  settings.Set("vpp", split.stages() / pp);
  return absl::OkStatus();
}

}  // namespace meshwright::planner

#include "planner/interchange/megatron_hybrid.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "planner/block/stage_partition.h"
#include "planner/interchange/layer_list.h"
#include "planner/profile/part_refusal.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kConvolution = 4;  // of Megatron-LM's Mamba layer, which has no flag for it

std::string LettersOf(const LayerGroup& group) {
  std::string letters;
  if (group.recurrence.exists()) {
    letters += group.recurrence.kind == RecurrenceKind::kMamba2 ? 'M' : 'G';
  } else if (group.attention.exists()) {
    letters += '*';
  }
  if (group.ffn.exists()) letters += group.ffn.has_experts() ? 'E' : '-';
  return letters;
}

}  // namespace

bool IsHybrid(const ModelSpec& model) {
  return std::any_of(model.groups.begin(), model.groups.end(), [](const LayerGroup& group) {
    return group.recurrence.exists() || !group.mixes() || !group.ffn.exists();
  });
}

std::string HybridPattern(const ModelSpec& model, const Layout& layout) {
  std::string pattern;
  const LayerShapes shapes(model);
  const int64_t stages = int64_t{layout.pp} * layout.vpp;
  const bool divides = CanPartition(model.layers(), layout, StagePartition::kEqual);
  for (int64_t stage = 0; stage < (divides ? stages : 1); ++stage) {
    const StageLayers held =
        divides ? StageOf(model, layout, StagePartition::kEqual, static_cast<int32_t>(stage))
                : StageLayers{.layer_count = model.layers()};
    if (stage > 0) pattern += '|';
    ForEachRun(shapes, held, [&](size_t shape, int64_t layers) {
      for (int64_t i = 0; i < layers; ++i) pattern += LettersOf(shapes.Of(model, shape));
    });
  }
  for (int64_t i = 0; i < model.mtp_layers; ++i) {
    absl::StrAppend(&pattern, "/", LettersOf(model.MtpLayer()));
  }
  return pattern;
}

std::optional<int64_t> MegatronLayersEach(const ModelSpec& model) {
  const bool is_hybrid = IsHybrid(model);
  const int64_t each = MegatronLayersOf(model.groups.front(), is_hybrid);
  for (const LayerGroup& group : model.groups) {
    if (MegatronLayersOf(group, is_hybrid) != each) return std::nullopt;
  }
  return each;
}

absl::Status AddRecurrence(const ModelSpec& model, const Recurrence& recurrence,
                           MegatronScript& script) {
  auto& flags = script.flags;
  if (recurrence.kind == RecurrenceKind::kGatedDelta) {
    flags.push_back(absl::StrFormat(
        "--linear-num-value-heads %d --linear-num-key-heads %d --linear-value-head-dim %d "
        "--linear-key-head-dim %d --linear-conv-kernel-dim %d",
        recurrence.heads, recurrence.key_heads, recurrence.value_dim, recurrence.key_dim,
        recurrence.conv_width));
    return absl::OkStatus();
  }
  const auto refuse = [&model](const char* part, const char* has) {
    return RefuseParts(model, {part}, {}, has, "estimate and recommend plan it");
  };
  if (recurrence.projection_bias) {
    return refuse("projection_bias", "Megatron-LM's Mamba layer has no biases for");
  }
  if (recurrence.conv_width != kConvolution) {
    return refuse("convolution",
                  "Megatron-LM's Mamba layer, whose convolution sees 4 tokens, lacks");
  }
  if (!recurrence.output_norm) {
    return FieldError("mamba_rms_norm", "false",
                      "Megatron-LM's Mamba layer has the norm; must be true");
  }
  flags.push_back(absl::StrFormat(
      "--mamba-num-heads %d --mamba-head-dim %d --mamba-state-dim %d --mamba-num-groups %d",
      recurrence.heads, recurrence.value_dim, recurrence.key_dim, recurrence.key_heads));
  if (recurrence.chunk != 128) {
    script.comments.push_back(
        absl::StrFormat("chunk_size = %d: Megatron-LM's Mamba layer works on chunks of 128 tokens.",
                        recurrence.chunk));
  }
  return absl::OkStatus();
}

absl::Status ResolveHybrid(Settings& settings) {
  const std::string* pattern = settings.Find("hybrid_pattern");
  if (pattern == nullptr) return absl::OkStatus();
  const std::string main = pattern->substr(0, pattern->find('/'));  // without MTP layers
  if (main.empty() || main.find_first_not_of("MG*-E|") != std::string::npos) {
    return FieldError("hybrid_pattern", *pattern,
                      "must have the letters M, G, *, - and E, with a | between stages");
  }
  const std::vector<std::string> stages = absl::StrSplit(main, '|');
  if (stages.size() == 1) return absl::OkStatus();
  for (const std::string& stage : stages) {
    if (stage.size() == stages.front().size()) continue;
    return FieldError("hybrid_pattern", *pattern,
                      "must have the same number of layers in every stage; for other splits set "
                      "stages= in the layout");
  }
  const int64_t pp = settings.CountOf("pp").value_or(1);
  const auto count = static_cast<int64_t>(stages.size());
  if (count % pp != 0) {
    return FieldError("hybrid_pattern", *pattern,
                      absl::StrCat("must have a multiple of ", pp, " stages"));
  }
  settings.Set("vpp", count / pp);
  return absl::OkStatus();
}

}  // namespace meshwright::planner

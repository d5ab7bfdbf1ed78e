#include "planner/report/layer_kinds.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/text/amounts.h"
#include "base/text/string_view.h"
#include "planner/cost/step_shape.h"
#include "planner/memory/chunks_in_flight.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

std::string AttentionName(const Attention& attention) {
  std::string name = attention.is_latent()                          ? "latent attention"
                     : attention.kind == AttentionKind::kCompressed ? "compressed attention"
                     : attention.index.exists()                     ? "sparse attention"
                                                                    : "attention";
  if (attention.is_latent() && attention.index.exists()) name = absl::StrCat("sparse ", name);
  if (attention.window > 0) {
    absl::StrAppend(&name, attention.chunked ? " in chunks of " : " over ",
                    Grouped(attention.window), attention.chunked ? "" : " keys");
  }
  return name;
}

std::string NameOfLayer(const LayerGroup& group, UnitTraining training) {
  std::vector<std::string> parts;
  if (group.attention.exists()) parts.push_back(AttentionName(group.attention));
  if (group.recurrence.exists()) {
    parts.push_back(absl::StrReplaceAll(
        AbslView(NameOf(kRecurrenceKindNames, group.recurrence.kind)), {{"_", " "}}));
  }
  if (group.ffn.has_experts()) {
    parts.push_back(absl::StrCat(Grouped(group.ffn.experts.count), " experts"));
  } else if (group.ffn.exists()) {
    parts.emplace_back("FFN");
  }
  if (training != UnitTraining::kTrained) parts.emplace_back("frozen");
  return absl::StrJoin(parts, ", ");
}

// How many layers of a shape recompute nothing or a part, and how many are recomputed as a whole.
using LayersOfShape = std::array<int64_t, 2>;

std::vector<LayersOfShape> CountLayers(const StepShape& step) {
  std::vector<LayersOfShape> counts(step.context.shapes.size());
  for (int32_t stage = 0; stage < StageCount(step.layout); ++stage) {
    FirstLayers recomputed = FirstLayers::Recomputed(step.layout);
    ForEachRun(step.context.shapes, step.planned.Stage(stage), [&](size_t shape, int64_t layers) {
      const int64_t again = recomputed.Of(layers);
      counts[shape][0] += layers - again;
      counts[shape][1] += again;
    });
  }
  return counts;
}

}  // namespace

std::vector<LayerKind> LayerKindsOf(const EstimateContext& context, const Layout& layout) {
  const StepShape step(context, layout);
  const std::vector<LayersOfShape> counts = CountLayers(step);
  std::vector<LayerKind> kinds;
  for (size_t shape = 0; shape < counts.size(); ++shape) {
    const std::string name =
        NameOfLayer(context.shapes.Of(context.model, shape), context.shapes.TrainingOf(shape));
    for (const bool recomputed : {true, false}) {
      const int64_t layers = counts[shape][recomputed ? 1 : 0];
      if (layers == 0) continue;
      // A chunk recomputes its first layers.
      const int64_t layer = recomputed ? 0 : layout.recompute_layers;
      kinds.push_back({.name = name,
                       .layers = layers,
                       .recomputed = recomputed,
                       .operators = LayerTimeline(step, shape, RecomputeOf(layout, layer))});
    }
  }
  return kinds;
}

}  // namespace meshwright::planner

#include "planner/worker_memory/sharded_peaks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "planner/schedule/placement.h"
#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

using LayersOfAStage = decltype(WorkerStage::layers);

std::string Describe(const LayersOfAStage& layers) {
  std::string text;
  for (const WorkerLayers& one : layers) {
    absl::StrAppend(&text, " ", one.count, " of group ", one.group);
  }
  return text;
}

std::vector<WorkerStageBytes> StagesOf(const Layout& layout, int32_t rank,
                                       const LayersOfAStage& layers, Recompute recompute) {
  const WorkerShape shape = {.block = {.tokens = 16,
                                       .hidden = 32,
                                       .heads = 4,
                                       .kv_heads = 2,
                                       .head_dim = 8,
                                       .ffn_hidden = 48,
                                       .element_bytes = 4,
                                       .selective_drops_operators = true,
                                       .keys = 16,
                                       .vocab = 640}};
  WorkerShape wide = shape;
  wide.block.ffn_hidden = 480;
  const WorkerStages all({shape, wide}, {.recompute = recompute, .recompute_layers = 2});
  std::vector<WorkerStageBytes> stages;
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const int32_t number = StageOfChunk(layout, rank, chunk);
    const bool first = number == 0;
    const bool last = number + 1 == StageCount(layout);
    stages.push_back(all.BytesOf({.layers = layers, .first = first, .last = last}));
  }
  return stages;
}

// One action's peak, part by part.
int64_t PeakInParts(const WorkerStageBytes& stage, const Action& action, TransientStates& states) {
  int64_t peak_bytes = 0;
  ForEachPart(stage, action.kind, [&](int64_t part) {
    const int64_t own_bytes = PartPeak(stage, action.kind, part).total_bytes();
    peak_bytes = std::max(peak_bytes, own_bytes + states.Next(action, part));
  });
  return peak_bytes;
}

void ExpectEqualPeaks(const Layout& layout, int32_t micro_batches, const LayersOfAStage& layers,
                      Recompute recompute, const TransientUnits& units) {
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    const std::vector<WorkerStageBytes> stages = StagesOf(layout, rank, layers, recompute);
    std::vector<const WorkerStageBytes*> chunks;
    chunks.reserve(stages.size());
    for (const WorkerStageBytes& stage : stages) chunks.push_back(&stage);
    const std::vector<Action> actions = MakeSchedule(layout, rank, micro_batches).value();
    TransientStates states(units, chunks, actions);
    ShardedPeaks peaks(units, chunks, actions);
    for (size_t i = 0; i < actions.size(); ++i) {
      const WorkerStageBytes& stage = stages[static_cast<size_t>(actions[i].chunk)];
      ASSERT_EQ(peaks.Next(stage).total_bytes(), PeakInParts(stage, actions[i], states))
          << Name(layout, micro_batches) << " rank " << rank << Describe(layers) << ", action " << i
          << " " << FormatAction(actions[i]);
    }
  }
}

// Of one group, of two, and none at all.
std::vector<LayersOfAStage> AllLayers() {
  return {{{0, 1}}, {{0, 2}}, {{0, 3}}, {{0, 6}}, {{0, 1}, {1, 1}}, {{1, 3}, {0, 4}}, {}};
}

TEST(ShardedPeaks, AreThoseOfEveryPart) {
  // A table that outweighs everything, and layers that do.
  for (const int64_t table : {100'000, 3'000}) {
    TransientUnits units = {
        .gradients = {.table = table, .layers = {20'000, 50'000}, .final_norm = 128},
        .weights = {},
    };
    for (const bool gathers : {false, true}) {
      if (gathers)
        units.weights = {.table = table / 2, .layers = {10'000, 25'000}, .final_norm = 64};
      ForEachPipeline(4, 3, 6, [&](const Layout& layout, int32_t micro_batches) {
        if (layout.schedule == ScheduleKind::kBreadthFirst) return;
        if (DividesVocabulary(layout.schedule)) return;  // the worker has none of these
        for (const bool tied : {false, true}) {
          units.shared_table = tied && EndsShareRank(layout);
          for (const LayersOfAStage& layers : AllLayers()) {
            if (layers.empty() && StageCount(layout) == 1) continue;  // no model is without any
            ExpectEqualPeaks(layout, micro_batches, layers, Recompute::kNone, units);
            ExpectEqualPeaks(layout, micro_batches, layers, Recompute::kBlock, units);
          }
          ExpectEqualPeaks(layout, micro_batches, {{0, 2}}, Recompute::kFull, units);
        }
      });
    }
  }
}

}  // namespace
}  // namespace meshwright::planner

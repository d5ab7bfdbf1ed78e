#include "planner/memory/sharded_peaks.h"

#include <gtest/gtest.h>

#include <vector>

#include "planner/schedule/placement.h"
#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

std::vector<WorkerStageBytes> StagesOf(const Layout& layout, int32_t rank, int64_t layers,
                                       Recompute recompute) {
  std::vector<WorkerStageBytes> stages;
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const int32_t number = StageOfChunk(layout, rank, chunk);
    stages.push_back(StageBytes({.block = {.tokens = 16,
                                           .hidden = 32,
                                           .heads = 4,
                                           .kv_heads = 2,
                                           .head_dim = 8,
                                           .ffn_hidden = 48,
                                           .element_bytes = 4,
                                           .selective_drops_operators = true,
                                           .keys = 16},
                                 .layers = layers,
                                 .first = number == 0,
                                 .last = number + 1 == StageCount(layout),
                                 .recompute = recompute,
                                 .recompute_layers = 2,
                                 .vocab = 640}));
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

void ExpectEqualPeaks(const Layout& layout, int32_t micro_batches, int64_t layers,
                      Recompute recompute, const TransientUnits& units) {
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    const std::vector<WorkerStageBytes> stages = StagesOf(layout, rank, layers, recompute);
    std::vector<const WorkerStageBytes*> chunks;
    for (const WorkerStageBytes& stage : stages) chunks.push_back(&stage);
    const std::vector<Action> actions = MakeSchedule(layout, rank, micro_batches).value();
    TransientStates states(units, chunks, actions);
    ShardedPeaks peaks(units, chunks, actions);
    for (size_t i = 0; i < actions.size(); ++i) {
      ASSERT_EQ(peaks.Next().total_bytes(),
                PeakInParts(stages[actions[i].chunk], actions[i], states))
          << Name(layout, micro_batches) << " rank " << rank << " of " << layers
          << " layers, action " << i << " " << FormatAction(actions[i]);
    }
  }
}

TEST(ShardedPeaks, AreThoseOfEveryPart) {
  // A table that outweighs everything, and layers that do.
  for (const int64_t table : {100'000, 3'000}) {
    TransientUnits units = {
        .gradients = {.table = table, .layer = 20'000, .final_norm = 128},
        .weights = {},
    };
    for (const bool gathers : {false, true}) {
      if (gathers) units.weights = {.table = table / 2, .layer = 10'000, .final_norm = 64};
      ForEachPipeline(4, 3, 6, [&](const Layout& layout, int32_t micro_batches) {
        if (layout.schedule == ScheduleKind::kBreadthFirst) return;
        for (const bool tied : {false, true}) {
          units.shared_table = tied && EndsShareRank(layout);
          for (const int64_t layers : {1, 2, 3, 6}) {
            ExpectEqualPeaks(layout, micro_batches, layers, Recompute::kNone, units);
            ExpectEqualPeaks(layout, micro_batches, layers, Recompute::kBlock, units);
          }
          ExpectEqualPeaks(layout, micro_batches, 2, Recompute::kFull, units);
        }
      });
    }
  }
}

}  // namespace
}  // namespace meshwright::planner

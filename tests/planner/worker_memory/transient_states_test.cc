#include "planner/worker_memory/transient_states.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "planner/worker_memory/worker_memory.h"
#include "tests/planner/schedule/pipelines.h"

namespace meshwright::planner {
namespace {

// Sizes that tell in a sum what is in it.
constexpr int64_t kTable = 1000000;
constexpr int64_t kLayer = 1000;
constexpr int64_t kNorm = 1;

// A model of `layers` on one rank.
std::vector<WorkerStageBytes> Chunks(int32_t chunks, int64_t layers) {
  std::vector<WorkerStageBytes> stages(static_cast<size_t>(chunks));
  for (WorkerStageBytes& stage : stages) {
    stage.layers = layers / chunks;
    stage.runs = {{.count = stage.layers}};
  }
  stages.front().first = true;
  stages.back().last = true;
  return stages;
}

std::vector<const WorkerStageBytes*> Pointers(const std::vector<WorkerStageBytes>& stages) {
  std::vector<const WorkerStageBytes*> pointers;
  pointers.reserve(stages.size());
  for (const WorkerStageBytes& stage : stages) pointers.push_back(&stage);
  return pointers;
}

TransientUnits Buckets(bool layered = false, bool shared_table = false) {
  return {.gradients = {.table = kTable, .layers = {kLayer}, .final_norm = kNorm},
          .shared_table = shared_table,
          .layered = layered};
}

// Bytes of every part of the actions.
std::vector<int64_t> Held(const TransientUnits& units, const std::vector<WorkerStageBytes>& stages,
                          const std::vector<Action>& actions) {
  TransientStates states(units, Pointers(stages), actions);
  std::vector<int64_t> held;
  for (const Action& action : actions) {
    ForEachPart(stages[action.chunk], action.kind,
                [&](int64_t part) { held.push_back(states.Next(action, part)); });
  }
  return held;
}

constexpr Action kForward = {.kind = ActionKind::kForward};
constexpr Action kBackward = {.kind = ActionKind::kBackward};

TEST(TransientStates, ABucketIsOpenWhileTheOneBeforeIsReduced) {
  const std::vector<int64_t> expected = {
      // Embedding, two layers and head forward: nothing.
      0, 0, 0, 0,
      // Head; layers; embedding.
      kTable, kTable + kLayer, 2 * kLayer, kLayer + kTable,
      // The last two buckets stay until the next one opens.
      kLayer + kTable, kLayer + kTable, kLayer + kTable, kLayer + kTable,
      // In the last backward the final norm comes between the head and the layers.
      2 * kTable, kNorm + kLayer, 2 * kLayer, kLayer + kTable};
  EXPECT_EQ(Held(Buckets(), Chunks(1, 2), {kForward, kBackward, kForward, kBackward}), expected);
}

TEST(TransientStates, LayeredAccumulationKeepsAChunksBucketsForItsPass) {
  const std::vector<Action> actions = {{.kind = ActionKind::kBackward, .chunk = 1},
                                       {.kind = ActionKind::kBackward, .chunk = 1},
                                       {.kind = ActionKind::kBackward, .chunk = 0},
                                       {.kind = ActionKind::kBackward, .chunk = 0}};
  const std::vector<int64_t> expected = {
      // Opened by the first micro-batch of the chunk, reduced after the last.
      kTable, kTable + kLayer, kTable + kLayer, kNorm + kTable + kLayer,
      // The other chunk's, beside the last one under reduction.
      2 * kLayer, 2 * kLayer + kTable, 2 * kLayer + kTable, 2 * kLayer + kTable};
  const std::vector<int64_t> held = Held(Buckets(/*layered=*/true), Chunks(2, 2), actions);
  EXPECT_EQ(held, expected);
}

TEST(TransientStates, ATableSharedByBothEndsIsReducedForEach) {
  const std::vector<int64_t> expected = {kTable, kNorm + kLayer, kLayer + kTable};
  EXPECT_EQ(Held(Buckets(/*layered=*/false, /*shared_table=*/true), Chunks(1, 1), {kBackward}),
            expected);
  // Layered, it stays open from the head to the embedding.
  const std::vector<int64_t> layered = {kTable, kTable + kNorm + kLayer, kTable + kNorm + kLayer};
  EXPECT_EQ(Held(Buckets(/*layered=*/true, /*shared_table=*/true), Chunks(1, 1), {kBackward}),
            layered);
}

TEST(TransientStates, TwoComputationsWeightsAreWhole) {
  TransientUnits units = {.gradients = {},
                          .weights = {.table = kTable, .layers = {kLayer}, .final_norm = kNorm}};
  const std::vector<int64_t> expected = {
      // Embedding and the first layer, two layers, the second layer and the head, the head and what
      // its backward needs next.
      kTable + kLayer,
      2 * kLayer,
      kLayer + kTable + kNorm,
      kTable + kNorm + kLayer,
      kTable + kNorm + kLayer,
      2 * kLayer,
      kLayer,
      0};
  EXPECT_EQ(Held(units, Chunks(1, 2), {kForward, kBackward}), expected);
}

// What is held in a run of like micro-batches is the same from the second to the last but one.
TEST(TransientStates, AreSteadyWithinARun) {
  for (const ScheduleKind schedule : {ScheduleKind::kGpipe, ScheduleKind::kBreadthFirst}) {
    const bool layered = schedule == ScheduleKind::kBreadthFirst;
    for (const int32_t vpp : {1, 2}) {
      if (!layered && vpp > 1) continue;
      const Layout layout = Pipeline(schedule, 1, vpp);
      TransientUnits units = Buckets(layered);
      units.weights = {.table = 7 * kTable, .layers = {7 * kLayer}, .final_norm = 7 * kNorm};
      const std::vector<WorkerStageBytes> stages = Chunks(vpp, 4);
      const auto parts = [&](int32_t micro_batches) {
        const std::vector<Action> actions = MakeSchedule(layout, 0, micro_batches).value();
        return Held(units, stages, actions);
      };
      const std::vector<int64_t> four = parts(4);
      const std::vector<int64_t> nine = parts(9);
      const auto runs = 2 * static_cast<size_t>(vpp);
      size_t at_four = 0;
      size_t at_nine = 0;
      for (size_t run = 0; run < runs; ++run) {
        const size_t length = four.size() / runs / 4;
        for (int32_t i = 0; i < 9; ++i) {
          const int32_t like = i < 2 ? i : i < 7 ? 2 : i - 5;
          for (size_t part = 0; part < length; ++part) {
            EXPECT_EQ(nine[at_nine + i * length + part], four[at_four + like * length + part]);
          }
        }
        at_four += 4 * length;
        at_nine += 9 * length;
      }
    }
  }
}

}  // namespace
}  // namespace meshwright::planner

// Maps the stages of the model to pipeline ranks.
//
// The model is cut into pp * vpp stages, numbered in the order of a micro-batch's forward. In most
// schedules, chunk j of rank r is stage j * pp + r. The V schedules (IsV()) lay the stages out as a
// V: rank r holds stages r and 2 * pp - 1 - r. The first and the last stage are then on rank 0, and
// the two middle stages on the last rank, without a send between them.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/schedule/action.h"

namespace meshwright::planner {

// The rank that holds a stage, and the stage's chunk there.
struct ChunkPlace {
  int32_t rank = 0;
  int32_t chunk = 0;

  friend bool operator==(const ChunkPlace&, const ChunkPlace&) = default;
};

inline int32_t StageCount(const Layout& layout) { return layout.pp * layout.vpp; }

// Returns the stage of a chunk.
// REQUIRES: 0 <= rank < pp, 0 <= chunk < vpp, and vpp == 2 under a V schedule.
inline int32_t StageOfChunk(const Layout& layout, int32_t rank, int32_t chunk) {
  const bool turns_back = IsV(layout.schedule) && chunk == 1;
  return turns_back ? 2 * layout.pp - 1 - rank : chunk * layout.pp + rank;
}

// Returns the rank and chunk of a stage.
// REQUIRES: 0 <= stage < StageCount(layout), and vpp == 2 under a V schedule.
inline ChunkPlace PlaceOfStage(const Layout& layout, int32_t stage) {
  const int32_t chunk = stage / layout.pp;
  const int32_t position = stage % layout.pp;
  const bool turns_back = IsV(layout.schedule) && chunk == 1;
  return {.rank = turns_back ? layout.pp - 1 - position : position, .chunk = chunk};
}

// Returns the pass of the vocabulary that computes the gradient of the last stage's output: the
// last stage has this gradient once all ranks have run the pass. The pass is the forward in the
// second algorithm of arXiv 2411.05288, and the backward in the first algorithm and in an
// interlaced pipeline.
// REQUIRES: DividesVocabulary().
inline ActionKind LossAfter(ScheduleKind schedule) {
  return schedule == ScheduleKind::k1f1bVocab2 ? ActionKind::kVocabularyForward
                                               : ActionKind::kVocabularyBackward;
}

// Returns whether each rank that holds one end of the model, or a shard of it, holds the same of
// the other end. This is so without a pipeline, in a V, and if the schedule divides the vocabulary.
inline bool EndsShareRank(const Layout& layout) {
  return DividesVocabulary(layout.schedule) ||
         PlaceOfStage(layout, 0).rank == PlaceOfStage(layout, StageCount(layout) - 1).rank;
}

}  // namespace meshwright::planner

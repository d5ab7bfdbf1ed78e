// ScheduleNeeds holds a schedule's requirements on the pipeline as data. The schedule generators
// and the layout rules both read this data, so they accept the same layouts.
#pragma once

#include <cstdint>
#include <limits>

#include "planner/layout/layout.h"

namespace meshwright::planner {

struct ScheduleNeeds {
  int32_t least_ranks = 1;   // pipeline ranks
  int32_t least_chunks = 1;  // chunks per pipeline rank
  int32_t most_chunks = 1;
  // The least number of micro-batches is micro_batches_per_rank * pp + more_micro_batches. With
  // fewer micro-batches, splitting the backward does not hide the bubble.
  int32_t micro_batches_per_rank = 0;
  int32_t more_micro_batches = 0;
  bool whole_rounds = false;  // the number of micro-batches must be a multiple of pp
};

// The value of ScheduleNeeds::most_chunks for a schedule that takes any number of chunks.
inline constexpr int32_t kAnyChunks = std::numeric_limits<int32_t>::max();

constexpr ScheduleNeeds NeedsOf(ScheduleKind schedule) {
  switch (schedule) {
    case ScheduleKind::kGpipe:
    case ScheduleKind::k1f1b:
      return {};
    case ScheduleKind::kInterleaved:
      return {.least_ranks = 2, .least_chunks = 2, .most_chunks = kAnyChunks, .whole_rounds = true};
    case ScheduleKind::kBreadthFirst:
      return {.most_chunks = kAnyChunks};
    case ScheduleKind::kZbH1:
      return {.micro_batches_per_rank = 1};
    case ScheduleKind::kZbV:
      return {.least_chunks = 2,
              .most_chunks = 2,
              .micro_batches_per_rank = 2,
              .more_micro_batches = -1};
    case ScheduleKind::kZbH2:
    case ScheduleKind::k1f1bVocab1:
    case ScheduleKind::k1f1bVocab2:
    case ScheduleKind::k1f1bInterlaced:
      return {};
    case ScheduleKind::kVHalf:
    case ScheduleKind::kVHalfVocab1:
      return {.least_chunks = 2, .most_chunks = 2, .micro_batches_per_rank = 2};
  }
  return {};
}

constexpr bool ChunksFit(const ScheduleNeeds& needs, const Layout& layout) {
  return layout.vpp >= needs.least_chunks && layout.vpp <= needs.most_chunks &&
         layout.pp >= needs.least_ranks;
}

// Returns the fewest micro-batches that the schedule takes on `pipeline_ranks` ranks, or 0 if it
// takes any number.
constexpr int64_t LeastMicroBatches(const ScheduleNeeds& needs, int32_t pipeline_ranks) {
  return int64_t{needs.micro_batches_per_rank} * pipeline_ranks + needs.more_micro_batches;
}

}  // namespace meshwright::planner

// The generators behind MakeSchedule, one per schedule: pure, and linear in the actions they emit.
//
// p = pipeline_ranks, r = rank, m = micro_batches, v = chunks. All require p, m, v >= 1 and
// 0 <= r < p. The stages of the chunks are those of planner/schedule/placement.h.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/schedule/action.h"

namespace meshwright::planner {

// All forwards, then all backwards, the same on every rank (arXiv 1811.06965). m micro-batches are
// in flight.
std::vector<Action> ScheduleGpipe(int32_t micro_batches);

// One-forward-one-backward (PipeDream-flush): rank r warms up with min(m, p - r - 1) forwards.
std::vector<Action> Schedule1f1b(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// Interleaved 1F1B in Megatron-LM's order (arXiv 2104.04473): micro-batches pass the chunks in
// groups of p, and rank r warms up with 2 (p - r - 1) + (v - 1) p forwards. Requires m % p == 0.
std::vector<Action> ScheduleInterleaved(int32_t pipeline_ranks, int32_t rank, int32_t chunks,
                                        int32_t micro_batches);

// Breadth-first with layered gradient accumulation (arXiv 2106.02679, 2211.05953): all
// micro-batches pass a chunk before the next chunk begins, backward from the last chunk. The same
// on every rank.
std::vector<Action> ScheduleBreadthFirst(int32_t chunks, int32_t micro_batches);

// ZB-H1 (arXiv 2401.10241, section 2): the warm-up of 1F1B with the backward split; rank r delays
// r weight gradients, which fill its bubble at the end. min(m, p) micro-batches are in flight on
// every rank.
std::vector<Action> ScheduleZbH1(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// ZB-V (arXiv 2401.10241, section 6; arXiv 2405.15362): two chunks per rank in V placement, the
// order for F = B = W. At most 2p chunks, which are p micro-batches, are in flight. For fewer than
// 2p - 1 micro-batches, which no layout has, it is the order for 2p - 1 with the missing ones left
// out.
std::vector<Action> ScheduleZbV(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

}  // namespace meshwright::planner

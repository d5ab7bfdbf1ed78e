// Generates the lists of MakeSchedule(), with one function per schedule. The functions are pure and
// take time linear in the number of actions.
//
// p = pipeline_ranks, r = rank, m = micro_batches, v = chunks. planner/schedule/placement.h maps
// chunks to stages.
// REQUIRES, for all of them: p, m, v >= 1 and 0 <= r < p.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/schedule/action.h"

namespace meshwright::planner {

// Returns all forwards, then all backwards (GPipe, arXiv 1811.06965). The list is the same on every
// rank. Up to m micro-batches are in flight.
std::vector<Action> ScheduleGpipe(int32_t micro_batches);

// Returns one-forward-one-backward (PipeDream-flush). Rank r warms up with min(m, p - r - 1)
// forwards.
std::vector<Action> Schedule1f1b(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// Returns interleaved 1F1B in Megatron-LM's order (arXiv 2104.04473): micro-batches pass through
// the chunks in groups of p, and rank r warms up with 2 (p - r - 1) + (v - 1) p forwards.
// REQUIRES: m % p == 0.
std::vector<Action> ScheduleInterleaved(int32_t pipeline_ranks, int32_t rank, int32_t chunks,
                                        int32_t micro_batches);

// Returns breadth-first with layered gradient accumulation (arXiv 2106.02679, 2211.05953): all
// micro-batches pass through a chunk before the next chunk begins, and the backward starts with the
// last chunk. The list is the same on every rank.
std::vector<Action> ScheduleBreadthFirst(int32_t chunks, int32_t micro_batches);

// Returns ZB-H1 (arXiv 2401.10241, section 2). It has the warm-up of 1F1B and splits the backward.
// Rank r delays r weight gradients, which fill its bubble at the end. Up to min(m, p) micro-batches
// are in flight on every rank.
std::vector<Action> ScheduleZbH1(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// Returns ZB-V (arXiv 2401.10241, section 6; arXiv 2405.15362): two chunks per rank in V placement,
// in the order for F = B = W (planner/schedule/closed_forms.h). At most 2p chunks are in flight,
// which are the chunks of p micro-batches on one rank. No valid layout has m < 2p - 1; for such m,
// the list for 2p - 1 micro-batches is returned without the actions of the micro-batches that do
// not exist.
std::vector<Action> ScheduleZbV(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// Returns ZB-H2 (arXiv 2401.10241, section 2), which doubles ZB-H1's warm-up and its delay of
// weight gradients: rank r warms up with 2 (p - r - 1) forwards and delays 2r weight gradients. Up
// to min(m, 2p - 1) micro-batches are in flight on every rank. Rank r's list is that of rank 2r in
// ZB-H1 with 2p - 1 ranks.
std::vector<Action> ScheduleZbH2(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// Returns V-Half (arXiv 2405.15362): two chunks per rank in V placement, in the order of
// planner/schedule/v_half_block.h. At most p + 3 chunks are in flight, about half of the 2p chunks
// of p micro-batches.
std::vector<Action> ScheduleVHalf(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// The next functions return schedules with vocabulary parallelism (arXiv 2411.05288): each rank has
// a shard of the head. Once the last stage's forward of a micro-batch is done, all ranks run the
// head's passes S and T of this micro-batch.

// Returns 1F1B in which the head's passes overlap with passes of other micro-batches. Passes are in
// the order in which they are due if F = B = W. A round is the time of a forward and a backward.
// The last stage's backward waits `rounds_of_loss` rounds for the gradient: 2 in the paper's first
// algorithm, and 1 in the second, whose pass S already computes the gradient. Rank r has min(m, p -
// r + rounds_of_loss) micro-batches in flight.
std::vector<Action> ScheduleVocabulary1f1b(int32_t pipeline_ranks, int32_t rank,
                                           int32_t micro_batches, int32_t rounds_of_loss);

// Returns an interlaced pipeline: 1F1B in which all ranks run S and T of a micro-batch at the same
// time, as tensor parallelism does. Between the head's passes of consecutive micro-batches, each
// rank runs one forward and one backward. Even and odd ranks run them in opposite order, so in each
// such interval a forward advances by two ranks and a backward by one rank. Rank r has min(m,
// floor(1.5 (p - r))) micro-batches in flight.
std::vector<Action> ScheduleInterlaced(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// Returns V-Half in which the backward waits two blocks (VHalfBlock) for the head's passes, as in
// the paper's first algorithm.
std::vector<Action> ScheduleVHalfVocabulary(int32_t pipeline_ranks, int32_t rank,
                                            int32_t micro_batches);

}  // namespace meshwright::planner

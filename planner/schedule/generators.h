// Generates the lists of MakeSchedule(), with one function per schedule. The functions are pure and
// take time linear in the number of actions.
//
// p = pipeline_ranks, r = rank, m = micro_batches, v = chunks. planner/schedule/placement.h says
// which stage a chunk is.
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

// Returns interleaved 1F1B in Megatron-LM's order (arXiv 2104.04473): micro-batches pass the chunks
// in groups of p, and rank r warms up with 2 (p - r - 1) + (v - 1) p forwards.
// REQUIRES: m % p == 0.
std::vector<Action> ScheduleInterleaved(int32_t pipeline_ranks, int32_t rank, int32_t chunks,
                                        int32_t micro_batches);

// Returns breadth-first with layered gradient accumulation (arXiv 2106.02679, 2211.05953): all
// micro-batches pass a chunk before the next chunk begins, and the backward starts with the last
// chunk. The list is the same on every rank.
std::vector<Action> ScheduleBreadthFirst(int32_t chunks, int32_t micro_batches);

// Returns ZB-H1 (arXiv 2401.10241, section 2). It has the warm-up of 1F1B and splits the backward.
// Rank r delays r weight gradients, which fill its bubble at the end. Up to min(m, p) micro-batches
// are in flight on every rank.
std::vector<Action> ScheduleZbH1(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// Returns ZB-V (arXiv 2401.10241, section 6; arXiv 2405.15362): two chunks per rank in V placement,
// in the order for F = B = W (planner/schedule/closed_forms.h). At most 2p chunks are in flight, as
// many as p whole micro-batches. If m < 2p - 1, which no valid layout has, the list is that of 2p -
// 1 micro-batches without the actions of the missing micro-batches.
std::vector<Action> ScheduleZbV(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// Returns ZB-H2 (arXiv 2401.10241, section 2), for which the warm-up of ZB-H1 and the delay of its
// weight gradients double: rank r warms up with 2 (p - r - 1) forwards and delays 2r weight
// gradients. Up to min(m, 2p - 1) micro-batches are in flight on every rank. The list is that of
// ZB-H1 on every other one of 2p - 1 ranks.
std::vector<Action> ScheduleZbH2(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// Returns V-Half (arXiv 2405.15362): two chunks per rank in V placement, in the order of
// planner/schedule/v_half_block.h. At most p + 3 chunks are in flight, about half as many as p
// whole micro-batches.
std::vector<Action> ScheduleVHalf(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// The next functions return schedules with vocabulary parallelism (arXiv 2411.05288): each rank has
// a part of the head, whose passes S and T of a micro-batch run on all ranks once the last stage's
// forward is done.

// Returns 1F1B whose passes of the head overlap with those of other micro-batches. Passes lie where
// they are due if F = B = W. The backward of the last stage waits `rounds_of_loss` rounds, each of
// a forward and a backward, for the gradient: 2 in the paper's first algorithm, and 1 in the
// second, whose S computes the gradient already. Rank r has min(m, p - r + rounds_of_loss)
// micro-batches in flight.
std::vector<Action> ScheduleVocabulary1f1b(int32_t pipeline_ranks, int32_t rank,
                                           int32_t micro_batches, int32_t rounds_of_loss);

// Returns an interlaced pipeline: 1F1B in which all ranks run S and T of a micro-batch at the same
// time, as tensor parallelism does. Between the passes of the head of two micro-batches, every rank
// has one forward and one backward, every other rank in the reverse order, so that a forward passes
// two ranks and a backward one. Rank r has min(m, floor(1.5 (p - r))) micro-batches in flight.
std::vector<Action> ScheduleInterlaced(int32_t pipeline_ranks, int32_t rank, int32_t micro_batches);

// Returns V-Half whose backward waits two blocks for the passes of the head, as in the paper's
// first algorithm.
std::vector<Action> ScheduleVHalfVocabulary(int32_t pipeline_ranks, int32_t rank,
                                            int32_t micro_batches);

}  // namespace meshwright::planner

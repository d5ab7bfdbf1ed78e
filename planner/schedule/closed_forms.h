// Closed forms of the costs of a pipeline schedule: idle seconds, chunks in flight, exposed hops.
//
// A search uses them because it evaluates many layouts. Tests compare every form with the schedule
// lists and the simulator. p = pipeline ranks, v = chunks per rank, m = micro-batches, r = rank; F,
// B, W = the parts of one micro-batch's time on one rank, all of its chunks together.
//
// Sources: GPipe (arXiv 1811.06965); 1F1B and interleaved 1F1B (arXiv 2104.04473); breadth-first
// (arXiv 2106.02679, 2211.05953); ZB-H1 and ZB-V (arXiv 2401.10241). A form that none of them
// states is marked as derived.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/schedule/stage_durations.h"

namespace meshwright::planner {

// ---- By layout

// Returns the most chunks whose activations pipeline rank `rank` holds at once. A chunk is layers /
// (pp * vpp) layers of one micro-batch, and counts until its weight gradient is done. Exact for the
// generated lists.
int64_t PeakChunksInFlight(const Layout& layout, int32_t rank, int64_t micro_batches);

// Returns the same where the input part of a split backward frees all of a chunk but the share
// `kept_after_input`. Exact for zb_h1 and the schedules that don't split; for zb_v an upper bound.
double PeakChunksHeld(const Layout& layout, int32_t rank, int64_t micro_batches,
                      double kept_after_input);

// Returns OpenSendsNeeded() of planner/schedule/synchronous_sends.h. Derived; exact.
int64_t OpenSends(const Layout& layout, int64_t micro_batches);

// Returns the idle seconds of a step whose ranks are all alike and whose hops are free. The step
// takes m (F + B + W) plus this. Exact for zb_h1 where m >= p, for zb_v where F = B = W and m >= 2p
// - 1, and for the other schedules always. For zb_v it is what a barrier before the optimizer
// costs; without a barrier zb_v has no idle time. For other times simulate zb_v.
double BubbleTime(const Layout& layout, int64_t micro_batches, const StageDurations& rank);

// Returns the number of exposed point-to-point hops of a step. A hop is one send of a micro-batch's
// activations to the next stage. It is assumed to be short compared with a stage's time and not to
// keep the two ranks from computing.
double ExposedHops(const Layout& layout, int64_t micro_batches);

// ---- Idle time by schedule

double GpipeBubble(int64_t p, const StageDurations& rank);  // and of 1F1B
double InterleavedBubble(int64_t p, int64_t v, const StageDurations& rank);
// With fewer micro-batches than ranks, a rank also waits until the first micro-batch reaches its
// next chunk.
double BreadthFirstBubble(int64_t p, int64_t v, int64_t m, const StageDurations& rank);
double ZbH1Bubble(int64_t p, const StageDurations& rank);        // m >= p
double ZbVBarrierBubble(int64_t p, const StageDurations& rank);  // F = B = W, m >= 2p - 1

// ---- Hops, derived

double GpipeHops(int64_t p);
// Grows with m: p micro-batches share one round trip through the pipeline. Exact for p | m.
double OneFOneBHops(int64_t p, int64_t m);
double InterleavedHops(int64_t p, int64_t v);
// Exact at m <= p and m >= 2p; in between an upper bound, while a hop is shorter than a chunk's
// forward.
double BreadthFirstHops(int64_t p, int64_t v, int64_t m);
double ZbH1Hops(int64_t p);  // m > p and B >= W; 3 (p - 1) where B < W
double ZbVHops(int64_t p);   // p >= 2, F = B = W, m >= 2p - 1; other times: simulate

}  // namespace meshwright::planner

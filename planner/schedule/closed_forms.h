// What a pipeline schedule costs, in closed form: idle time, chunks in flight, exposed hops.
//
// For a search that looks at many layouts; tests hold every form against the schedule lists and the
// simulator. p = pipeline ranks, v = chunks per rank, m = micro-batches, r = rank; F, B, W = the
// parts of one micro-batch's time on one rank, all of its chunks together.
//
// Sources: GPipe (arXiv 1811.06965); 1F1B and interleaved 1F1B (arXiv 2104.04473); breadth-first
// (arXiv 2106.02679, 2211.05953); ZB-H1 and ZB-V (arXiv 2401.10241); DualPipe (arXiv 2412.19437).
// What none of them states is derived, and says so.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "planner/layout/layout.h"
#include "planner/schedule/stage_durations.h"

namespace meshwright::planner {

// ---- By layout

// Chunk-sized units of activations held at once on pipeline rank `rank`: micro-batches in flight
// times vpp. A chunk is layers / (pp * vpp) layers of one micro-batch. Exact for the generated
// lists; a chunk counts until its weight gradient is done.
int64_t PeakChunksInFlight(const Layout& layout, int32_t rank, int64_t micro_batches);

// The same where a split backward frees all but `kept_after_input` of a chunk at its input part.
// Exact for zb_h1 and the schedules that don't split; for zb_v an upper bound.
double PeakChunksHeld(const Layout& layout, int32_t rank, int64_t micro_batches,
                      double kept_after_input);

// OpenSendsNeeded() of planner/schedule/open_sends.h. Derived; exact.
int64_t OpenSends(const Layout& layout, int64_t micro_batches);

// Idle time of a step whose ranks are all alike and whose hops are free: the step takes
// m (F + B + W) and this. Exact, except that zb_h1 needs m >= p, and zb_v F = B = W and m >= 2p -
// 1; it then is what a barrier before the optimizer costs, and without one zb_v has none. Simulate
// zb_v with other times.
double BubbleTime(const Layout& layout, int64_t micro_batches, const StageDurations& rank);

// BubbleTime in units of one micro-batch's forward and backward on one rank, at F = B = W and m >=
// p: (p - 1) / v, a third of it for zb_h1, (p - 1) / 6 for zb_v.
double BubbleMicroBatches(const Layout& layout);

// Exposed point-to-point hops of a step; a hop is one send of a micro-batch's activations to the
// next stage, short against a stage's time, and does not hold up the ranks themselves.
double ExposedHops(const Layout& layout, int64_t micro_batches);

// ---- Idle time by schedule

double GpipeBubble(int64_t p, const StageDurations& rank);  // 1F1B's as well
double InterleavedBubble(int64_t p, int64_t v, const StageDurations& rank);
// With fewer micro-batches than ranks a chunk's last micro-batch waits for the first to come round.
double BreadthFirstBubble(int64_t p, int64_t v, int64_t m, const StageDurations& rank);
double ZbH1Bubble(int64_t p, const StageDurations& rank);        // m >= p
double ZbVBarrierBubble(int64_t p, const StageDurations& rank);  // F = B = W, m >= 2p - 1
// `overlapped_s`: a forward and a backward that run together. Exact at F = B = W, up to a third
// high elsewhere. p and m even, m >= 2p. No layout names DualPipe; it is here for comparison.
double DualPipeBubble(int64_t p, const StageDurations& rank, double overlapped_s);
inline int64_t DualPipeInFlight(int64_t p) { return p + 1; }

// ---- Hops, derived

double GpipeHops(int64_t p);
// Grows with m: p micro-batches share one round trip through the pipeline. Exact for p | m.
double OneFOneBHops(int64_t p, int64_t m);
double InterleavedHops(int64_t p, int64_t v);
// Exact at m <= p and m >= 2p; between them the most it can be while a hop is shorter than a
// chunk's forward.
double BreadthFirstHops(int64_t p, int64_t v, int64_t m);
double ZbH1Hops(int64_t p);  // m > p and B >= W; 3 (p - 1) where B < W
double ZbVHops(int64_t p);   // p >= 2, F = B = W, m >= 2p - 1; other times: simulate

// A whole breadth-first step with equal chunks and hops of any length. Exact.
double BreadthFirstStepTime(int64_t p, int64_t v, int64_t m, const StageDurations& chunk,
                            double hop_s);

// ---- Steps of unequal stages, free hops, derived. `ranks`: time of a micro-batch on each rank.

// Exact.
double GpipeStepTime(absl::Span<const StageDurations> ranks, int64_t m);
// An upper bound, exact where the last rank is the slowest. With ranks up to ten times apart it is
// at most 27 % high at m = p, 15 % at 2p, 8 % at 4p.
double OneFOneBStepTime(absl::Span<const StageDurations> ranks, int64_t m);
// Breadth-first: exact for m >= p. Interleaved: an upper bound, exact where the last rank is the
// slowest, at most 13 % high. The chunks of a rank are alike.
double ChunkedStepTime(absl::Span<const StageDurations> ranks, int64_t v, int64_t m);

}  // namespace meshwright::planner

// Gives closed forms of the costs of a pipeline schedule: idle seconds, chunks in flight, exposed
// hops.
//
// A search uses them because it evaluates many layouts. Tests compare every form with the schedule
// lists and the simulator. p = pipeline ranks, v = chunks per rank, m = micro-batches, r = rank. F,
// B and W are the times of the forward, the input gradient and the weight gradient of one
// micro-batch on one rank, all of its chunks together.
//
// Sources: GPipe (arXiv 1811.06965); 1F1B and interleaved 1F1B (arXiv 2104.04473); breadth-first
// (arXiv 2106.02679, 2211.05953); ZB-H1, ZB-H2 and ZB-V (arXiv 2401.10241); V-Half (arXiv
// 2405.15362); vocabulary parallelism (arXiv 2411.05288). Forms marked as derived are in none of
// these papers.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/schedule/stage_durations.h"

namespace meshwright::planner {

// Each of the next four functions evaluates the closed form of the layout's schedule.

// Returns the maximum number of chunks whose activations pipeline rank `rank` holds simultaneously.
// A chunk is layers / (pp * vpp) layers of one micro-batch, and counts until its weight gradient is
// done. Exact for the generated lists.
int64_t PeakChunksInFlight(const Layout& layout, int32_t rank, int64_t micro_batches);

// Returns PeakChunksInFlight() weighted by memory: after the input part of a split backward, a
// chunk counts only as `kept_after_input`. Exact for zb_h1, zb_h2 and schedules that don't split
// the backward; an upper bound for zb_v and v_half.
double PeakChunksHeld(const Layout& layout, int32_t rank, int64_t micro_batches,
                      double kept_after_input);

// Returns the result of OpenSendsNeeded() (planner/schedule/synchronous_sends.h). Derived; exact.
int64_t OpenSends(const Layout& layout, int64_t micro_batches);

// Returns the idle seconds of a step whose ranks are all alike and whose hops are free. The step
// takes m (F + B + W) plus these seconds. The times of the head's passes count as part of a rank's
// time. The form is
// - exact for gpipe, 1f1b, interleaved and breadth_first;
// - exact for zb_h1 if m >= p, and for v_half if F = B = W and m >= 2p;
// - exact for zb_v if F = B = W and m >= 2p - 1. It is the cost of a barrier before the optimizer:
//   without a barrier, zb_v has no idle time. If F, B and W differ, simulate zb_v;
// - exact for zb_h2 if F = B = W, without a barrier: it gives Timeline::RepeatedStepTime(). If F, B
//   and W differ, it is the idle time of the paper's ZB-2P, which places weight gradients by their
//   real times;
// - exact for 1f1b_interlaced if the head's passes take no time;
// - a lower bound for 1f1b_vocab1, 1f1b_vocab2 and v_half_vocab1. If the backward takes 2 F,
//   1f1b_vocab1 takes up to 4 F more and 1f1b_vocab2 up to 2 F more. If F = B = W, v_half_vocab1
//   takes up to (p + 4) F more.
double BubbleTime(const Layout& layout, int64_t micro_batches, const StageDurations& rank);

// Returns the number of exposed point-to-point hops of a step. A hop is one send of a micro-batch's
// activations to the next stage. A hop is assumed to be short compared with a stage's time, and to
// leave both of its ranks free to compute.
double ExposedHops(const Layout& layout, int64_t micro_batches);

// The next functions return the idle seconds of one schedule each.

double GpipeBubble(int64_t p, const StageDurations& rank);  // also for 1F1B
double InterleavedBubble(int64_t p, int64_t v, const StageDurations& rank);
// With fewer micro-batches than ranks, a rank also waits until the first micro-batch reaches its
// next chunk.
double BreadthFirstBubble(int64_t p, int64_t v, int64_t m, const StageDurations& rank);
double ZbH1Bubble(int64_t p, const StageDurations& rank);        // if m >= p
double ZbVBarrierBubble(int64_t p, const StageDurations& rank);  // if F = B = W and m >= 2p - 1
// Derived: rank 0 waits for the first gradient. While it waits for later gradients, it computes
// weight gradients.
double ZbH2Bubble(int64_t p, int64_t m, const StageDurations& rank);
double VHalfBubble(int64_t p, const StageDurations& rank);  // derived; if F = B = W and m >= 2p

// The next functions return the exposed hops of one schedule each. All of these forms are derived.

double GpipeHops(int64_t p);
// Grows with m: p micro-batches share one round trip through the pipeline. Exact if p divides m.
double OneFOneBHops(int64_t p, int64_t m);
double InterleavedHops(int64_t p, int64_t v);
// Exact if m <= p or m >= 2p. In between it is an upper bound, as long as a hop is shorter than a
// chunk's forward.
double BreadthFirstHops(int64_t p, int64_t v, int64_t m);
double ZbH1Hops(int64_t p);   // if m > p and B >= W; if B < W, the hops are 3 (p - 1)
double ZbH2Hops(int64_t p);   // of Timeline::RepeatedStepTime(), if F = B = W
double VHalfHops(int64_t p);  // if F = B = W and m >= 2p; otherwise simulate
double ZbVHops(int64_t p);    // if p >= 2, F = B = W and m >= 2p - 1; otherwise simulate

}  // namespace meshwright::planner

#include "planner/schedule/closed_forms.h"

#include <algorithm>

#include "planner/schedule/v_half_block.h"

namespace meshwright::planner {
namespace {

double Real(int64_t value) { return static_cast<double>(value); }

}  // namespace

int64_t PeakChunksInFlight(const Layout& layout, int32_t rank, int64_t micro_batches) {
  const int64_t p = layout.pp;
  const int64_t v = layout.vpp;
  const int64_t m = micro_batches;
  switch (layout.schedule) {
    case ScheduleKind::kGpipe:
    case ScheduleKind::kBreadthFirst:
      return m * v;
    case ScheduleKind::k1f1b:
      return std::min(m, p - rank) * v;
    case ScheduleKind::kInterleaved:
      return std::min(m * v, 2 * (p - rank - 1) + (v - 1) * p + 1);
    case ScheduleKind::kZbH1:
      return std::min(m, p) * v;
    case ScheduleKind::kZbV:
      // 2p, p micro-batches, once there are enough: the first arm fills until the first gradient
      // comes back, with r + 1 passes of the second arm.
      return std::min(m, 2 * p - rank - 1) + std::min<int64_t>(m, rank + 1);
    case ScheduleKind::kZbH2:
      return std::min(m, 2 * p - 1) * v;
    case ScheduleKind::kVHalf:
    case ScheduleKind::kVHalfVocab1: {
      const auto [first, second] = BlockOf(layout, rank).MostInFlight(m);
      return first + second;
    }
    case ScheduleKind::k1f1bVocab1:
      return std::min(m, p - rank + 2);
    case ScheduleKind::k1f1bVocab2:
      return std::min(m, p - rank + 1);
    case ScheduleKind::k1f1bInterlaced:
      return std::min(m, 3 * (p - rank) / 2);
  }
  return m * v;
}

double PeakChunksHeld(const Layout& layout, int32_t rank, int64_t micro_batches,
                      double kept_after_input) {
  const int64_t most = PeakChunksInFlight(layout, rank, micro_batches);
  const bool is_h1 = layout.schedule == ScheduleKind::kZbH1;
  if (!is_h1 && layout.schedule != ScheduleKind::kZbH2) return Real(most);
  // ZB-H1 holds p - r whole chunks as in 1F1B, and ZB-H2 2 (p - r) - 1. Of the others, whose weight
  // gradients wait, it holds a share.
  const int64_t after = layout.pp - rank;
  const int64_t whole = std::min<int64_t>(micro_batches, is_h1 ? after : 2 * after - 1);
  const int64_t waiting = most - whole;
  return Real(whole) + kept_after_input * Real(waiting);
}

int64_t OpenSends(const Layout& layout, int64_t micro_batches) {
  if (layout.schedule != ScheduleKind::kBreadthFirst || layout.pp == 1 || layout.vpp == 1) return 1;
  // A chunk's outputs come back around the ring while its last micro-batches are still under way.
  // The first rank has posted a receive, and the last one computes.
  return std::max<int64_t>(1, micro_batches - layout.pp - 1);
}

double BubbleTime(const Layout& layout, int64_t micro_batches, const StageDurations& rank) {
  switch (layout.schedule) {
    case ScheduleKind::kGpipe:
    case ScheduleKind::k1f1b:
    case ScheduleKind::k1f1bVocab1:
    case ScheduleKind::k1f1bVocab2:
    case ScheduleKind::k1f1bInterlaced:
      return GpipeBubble(layout.pp, rank);
    case ScheduleKind::kInterleaved:
      return InterleavedBubble(layout.pp, layout.vpp, rank);
    case ScheduleKind::kBreadthFirst:
      return BreadthFirstBubble(layout.pp, layout.vpp, micro_batches, rank);
    case ScheduleKind::kZbH1:
      return ZbH1Bubble(layout.pp, rank);
    case ScheduleKind::kZbV:
      return ZbVBarrierBubble(layout.pp, rank);
    case ScheduleKind::kZbH2:
      return ZbH2Bubble(layout.pp, micro_batches, rank);
    case ScheduleKind::kVHalf:
    case ScheduleKind::kVHalfVocab1:
      return VHalfBubble(layout.pp, rank);
  }
  return 0.0;
}

double ExposedHops(const Layout& layout, int64_t micro_batches) {
  if (layout.pp == 1) return 0.0;
  switch (layout.schedule) {
    case ScheduleKind::kGpipe:
      return GpipeHops(layout.pp);
    case ScheduleKind::k1f1b:
    case ScheduleKind::k1f1bVocab1:
    case ScheduleKind::k1f1bVocab2:
    case ScheduleKind::k1f1bInterlaced:
      return OneFOneBHops(layout.pp, micro_batches);
    case ScheduleKind::kInterleaved:
      return InterleavedHops(layout.pp, layout.vpp);
    case ScheduleKind::kBreadthFirst:
      return BreadthFirstHops(layout.pp, layout.vpp, micro_batches);
    case ScheduleKind::kZbH1:
      return ZbH1Hops(layout.pp);
    case ScheduleKind::kZbV:
      return ZbVHops(layout.pp);
    case ScheduleKind::kZbH2:
      return ZbH2Hops(layout.pp);
    case ScheduleKind::kVHalf:
    case ScheduleKind::kVHalfVocab1:
      return VHalfHops(layout.pp);
  }
  return 0.0;
}

double GpipeBubble(int64_t p, const StageDurations& rank) { return Real(p - 1) * rank.total_s(); }

double InterleavedBubble(int64_t p, int64_t v, const StageDurations& rank) {
  return Real(p - 1) * rank.total_s() / Real(v);
}

double BreadthFirstBubble(int64_t p, int64_t v, int64_t m, const StageDurations& rank) {
  const int64_t chunks = (p - 1) + (v - 1) * std::max<int64_t>(0, p - m);
  return Real(chunks) * rank.total_s() / Real(v);
}

double ZbH1Bubble(int64_t p, const StageDurations& rank) {
  return Real(p - 1) *
         (rank.forward_s + std::max(0.0, rank.input_gradient_s - rank.weight_gradient_s));
}

double ZbVBarrierBubble(int64_t p, const StageDurations& rank) {
  return Real(p - 1) * rank.forward_s / 2.0;
}

double ZbH2Bubble(int64_t p, int64_t m, const StageDurations& rank) {
  return std::max(0.0, Real(p - 1) * (rank.forward_s + rank.input_gradient_s) -
                           Real(m - 1) * rank.weight_gradient_s);
}

double VHalfBubble(int64_t p, const StageDurations& rank) {
  const double forwards = p % 2 == 0 ? 1.5 * Real(p) - 2.0 : 1.75 * Real(p) - 2.25;
  return std::max(0.0, forwards) * rank.forward_s;
}

double GpipeHops(int64_t p) { return 2.0 * Real(p - 1); }

double OneFOneBHops(int64_t p, int64_t m) {
  return p == 1 ? 0.0 : 2.0 * Real(p - 1) * Real(m) / Real(p) + 2.0 * Real(p - 2);
}

double InterleavedHops(int64_t p, int64_t v) { return p == 1 ? 0.0 : 2.0 * Real(p * v - 1); }

double BreadthFirstHops(int64_t p, int64_t v, int64_t m) {
  if (p == 1) return 0.0;
  const int64_t rounds = std::clamp<int64_t>(2 * p - m, 0, p);
  return 2.0 * Real((p - 1) + (v - 1) * rounds);
}

double ZbH1Hops(int64_t p) { return 4.0 * Real(p - 1); }

double ZbVHops(int64_t p) { return p == 1 ? 0.0 : 5.0 * Real(p - 1) - 2.0; }

double ZbH2Hops(int64_t p) { return 2.0 * Real(p - 1); }

double VHalfHops(int64_t p) { return (p % 2 == 0 ? 6.0 : 5.0) * Real(p - 1); }

}  // namespace meshwright::planner

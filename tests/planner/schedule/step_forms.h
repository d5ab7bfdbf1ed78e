// These functions are closed forms of the time of a whole pipeline step in seconds, with which
// tests compare the simulator and the estimate. p is the number of pipeline ranks, v the number of
// chunks per rank, and m the number of micro-batches. All forms are derived, not taken from a
// paper.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "planner/schedule/stage_durations.h"

namespace meshwright::planner {

// Returns the exact time of a breadth-first step with equal chunks and hops of any length.
inline double BreadthFirstStepTime(int64_t p, int64_t v, int64_t m, const StageDurations& chunk,
                                   double hop_s) {
  const double hop = p == 1 ? 0.0 : hop_s;
  // The time of one direction: the fill of the pipeline, then one chunk after the other. Each chunk
  // waits until its first micro-batch has passed all ranks.
  const auto pass_s = [&](double chunk_s) {
    const double round_s = static_cast<double>(p) * (chunk_s + hop);
    const double all_s = static_cast<double>(m) * chunk_s;
    return static_cast<double>(p - 1) * (chunk_s + hop) +
           static_cast<double>(v - 1) * std::max(all_s, round_s) + all_s;
  };
  return pass_s(chunk.forward_s) + pass_s(chunk.backward_s());
}

// The functions below are for unequal stages whose hops take no time. `ranks` has the times of one
// micro-batch on each rank.

// The sum and the maximum of one part of the ranks' times.
struct SumAndMaximum {
  double sum_s = 0.0;
  double max_s = 0.0;

  void Add(double time_s) {
    sum_s += time_s;
    max_s = std::max(max_s, time_s);
  }
};

inline SumAndMaximum TotalsOf(const std::vector<StageDurations>& ranks) {
  SumAndMaximum totals;
  for (const StageDurations& rank : ranks) totals.Add(rank.total_s());
  return totals;
}

// Returns the exact time of a GPipe step.
inline double GpipeStepTime(const std::vector<StageDurations>& ranks, int64_t m) {
  SumAndMaximum forward;
  SumAndMaximum backward;
  for (const StageDurations& rank : ranks) {
    forward.Add(rank.forward_s);
    backward.Add(rank.backward_s());
  }
  return forward.sum_s + backward.sum_s +
         static_cast<double>(m - 1) * (forward.max_s + backward.max_s);
}

// Returns an upper bound of the time of a 1F1B step, which is exact if the last rank is the
// slowest. If ranks differ by at most a factor of ten, the bound is at most 27 % too high at m = p,
// 15 % at 2p and 8 % at 4p.
inline double OneFOneBStepTime(const std::vector<StageDurations>& ranks, int64_t m) {
  const SumAndMaximum totals = TotalsOf(ranks);
  return totals.sum_s + static_cast<double>(m - 1) * totals.max_s;
}

// Returns the time of a step with v equal chunks per rank. For breadth-first, it is exact for
// m >= p. For interleaved 1F1B, it is an upper bound, at most 13 % too high, and exact if the last
// rank is the slowest.
inline double ChunkedStepTime(const std::vector<StageDurations>& ranks, int64_t v, int64_t m) {
  const SumAndMaximum totals = TotalsOf(ranks);
  return static_cast<double>(m) * totals.max_s +
         (totals.sum_s - totals.max_s) / static_cast<double>(v);
}

}  // namespace meshwright::planner

// Times an operation that some or all ranks of a run carry out at once, from the first rank's start
// to the last one's end. The ranks are processes of one host, or threads: they share a clock.
//
// Every rank makes the same calls; what they return, all ranks agree on, so that decisions made
// from it are the same everywhere.
#pragma once

#include <functional>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"
#include "planner/measurement/device_benchmark.h"

namespace meshwright::worker {

class OperationTimer {
 public:
  // `world` holds all ranks; null where there is one. Both outlive the timer.
  OperationTimer(Device& device, Communicator* world) : device_(device), world_(world) {}

  // Repeats `operation` on the ranks that take part, while the others wait, for about `slot_s`: a
  // run that warms up, then several windows. An operation that takes most of the slot runs twice.
  planner::Timing Measure(const std::function<void()>& operation, bool takes_part, double slot_s);

  // What Measure() took so far.
  double spent_s() const { return spent_s_; }

 private:
  // Of each value the largest over the ranks.
  std::vector<double> Largest(std::vector<double> values);
  // Seconds of one operation in each of `windows` windows of `count` operations.
  std::vector<double> RunWindows(const std::function<void()>& operation, bool takes_part,
                                 int64_t count, size_t windows);

  Device& device_;
  Communicator* const world_;
  double spent_s_ = 0.0;
};

}  // namespace meshwright::worker

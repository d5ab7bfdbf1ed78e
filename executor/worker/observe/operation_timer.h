// OperationTimer times an operation that some or all ranks of a run execute concurrently, from the
// first rank's start to the last rank's end. The ranks are threads or processes of one host and
// therefore share a clock.
//
// All ranks must make the same calls, and all get the same results, so that they decide alike.
#pragma once

#include <functional>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"
#include "planner/measurement/device_benchmark.h"

namespace meshwright::worker {

class OperationTimer {
 public:
  // `world` has all ranks of the run; it is null if there is only one. REQUIRES: `device` and
  // `world` outlive this object.
  OperationTimer(Device& device, Communicator* world) : device_(device), world_(world) {}

  // Returns the time of `operation`. The ranks that take part repeat the operation for about
  // `slot_s` seconds, first as a warm-up and then in several windows; the other ranks wait. An
  // operation that takes most of `slot_s` runs twice.
  planner::Timing Measure(const std::function<void()>& operation, bool takes_part, double slot_s);

  // Returns the seconds spent in Measure() so far.
  double spent_s() const { return spent_s_; }

 private:
  // Returns the maximum of each value over the ranks.
  std::vector<double> Largest(std::vector<double> values);
  // Returns the seconds per operation in each of `windows` windows of `count` operations.
  std::vector<double> RunWindows(const std::function<void()>& operation, bool takes_part,
                                 int64_t count, size_t windows);

  Device& device_;
  Communicator* const world_;
  double spent_s_ = 0.0;
};

}  // namespace meshwright::worker

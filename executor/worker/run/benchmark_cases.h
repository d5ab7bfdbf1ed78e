// BenchmarkCase is one measurement of a device benchmark: an operation, its size and the ranks that
// run it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "executor/trial/benchmark_events.h"
#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"
#include "planner/measurement/device_benchmark.h"

namespace meshwright::worker {

struct BenchmarkCase {
  // Cases of a series are consecutive, by increasing `work`, and their times grow at most as fast
  // as `work`.
  std::string series;
  double work = 0.0;       // FLOP or bytes
  bool takes_part = true;  // whether this rank runs the operation
  bool needed = false;     // measured even if the time budget is spent, since a profile needs it
  // Allocates the operation's data and returns the operation. Called only on ranks that take part.
  std::function<std::function<void()>()> prepare;
  // Puts the measurement into the event that reports it.
  std::function<void(const planner::Timing&, trial::MeasuredEvent&)> tell;
};

// One rank's view of the ranks of a run. REQUIRES: device and communicators outlive the cases.
struct BenchmarkRanks {
  Device& device;
  int32_t rank = 0;
  int32_t ranks = 1;
  int64_t memory_bytes = 0;       // that one rank may use
  Communicator* world = nullptr;  // null if the rank is alone
  // Groups with the rank's neighbour, one per kind of traffic; null if the last rank has no
  // neighbour.
  Communicator* pair = nullptr;
  Communicator* messages = nullptr;
};

// Returns the cases in order of measurement, the same on every rank.
std::vector<BenchmarkCase> BenchmarkCases(const BenchmarkRanks& ranks);

}  // namespace meshwright::worker

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
  bool takes_part = true;  // whether this rank runs it
  bool needed = false;     // measured even when out of time: a profile requires it
  // Allocates the operation's data and returns the operation; only for ranks that take part.
  std::function<std::function<void()>()> prepare;
  // Puts the measurement into its event.
  std::function<void(const planner::Timing&, trial::MeasuredEvent&)> tell;
};

// The ranks of a run as one of them sees them. REQUIRES: all outlive the cases.
struct BenchmarkRanks {
  Device& device;
  int32_t rank = 0;
  int32_t ranks = 1;
  int64_t memory_bytes = 0;       // that one rank may use
  Communicator* world = nullptr;  // null where the rank is alone
  // Groups with the rank's neighbour, one per kind of traffic; null on a last rank without one.
  Communicator* pair = nullptr;
  Communicator* messages = nullptr;
};

// In order of measurement, the same on every rank.
std::vector<BenchmarkCase> BenchmarkCases(const BenchmarkRanks& ranks);

}  // namespace meshwright::worker

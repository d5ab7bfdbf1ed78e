// What a device benchmark measures: the operations, their sizes and which ranks run them.
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
  // Cases of one series stand one after the other by growing `work`, and their times grow at most
  // as fast as it does.
  std::string series;
  double work = 0.0;       // FLOP or bytes
  bool takes_part = true;  // whether this rank runs it
  bool needed = false;     // measured even where there is no time for it: no profile without it
  // Allocates what the operation works on and returns the operation; for ranks that take part.
  std::function<std::function<void()>()> prepare;
  // Puts what was measured into the event that tells of it.
  std::function<void(const planner::Timing&, trial::MeasuredEvent&)> tell;
};

// The ranks of a run as one of them sees them. Everything outlives the cases.
struct BenchmarkRanks {
  Device& device;
  int32_t rank = 0;
  int32_t ranks = 1;
  int64_t memory_bytes = 0;       // what one rank may use
  Communicator* world = nullptr;  // null where the rank is alone
  // With its neighbour, of either traffic; null on a last rank that has none.
  Communicator* pair = nullptr;
  Communicator* messages = nullptr;
};

// In the order in which they are measured, the same on every rank.
std::vector<BenchmarkCase> BenchmarkCases(const BenchmarkRanks& ranks);

}  // namespace meshwright::worker

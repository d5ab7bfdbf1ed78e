#include "executor/worker/observe/operation_timer.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "executor/worker/comm/barrier.h"
#include "executor/worker/comm/device_clock.h"

namespace meshwright::worker {
namespace {

// Many short windows, since the best one is unaffected if others are disturbed.
constexpr int64_t kTimerWindows = 15;
constexpr int64_t kMaxProbes = 20;
constexpr double kLongestWindowS = 2e-3;
constexpr int64_t kMaxWindowCount = 10000;
// Share of the slot for runs that determine how many fit into the rest.
constexpr double kProbeShare = 0.125;

int64_t HowMany(double slot_s, double each_s, int64_t most) {
  return static_cast<int64_t>(std::clamp(slot_s / each_s, 1.0, static_cast<double>(most)));
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<double> OperationTimer::Largest(std::vector<double> values) {
  if (world_ == nullptr) return values;
  const auto count = static_cast<int64_t>(values.size());
  const at::Tensor host = at::empty({count}, at::TensorOptions().dtype(at::kDouble));
  std::copy(values.begin(), values.end(), host.mutable_data_ptr<double>());
  const at::Tensor shared = host.to(device_.torch_device());
  world_->AllReduce(shared, Reduction::kMax).Wait();
  const at::Tensor largest = shared.to(at::kCPU);
  const double* data = largest.const_data_ptr<double>();
  return {data, data + count};
}

std::vector<double> OperationTimer::RunWindows(const std::function<void()>& operation,
                                               bool takes_part, int64_t count, size_t windows) {
  constexpr double kNever = std::numeric_limits<double>::lowest();
  constexpr double kShortest = 1e-9;
  // The ends, then the negated starts, whose maximum is the earliest.
  std::vector<double> times(2 * windows, kNever);
  for (size_t window = 0; window < windows; ++window) {
    if (world_ != nullptr) Barrier(*world_, device_);
    if (!takes_part) continue;
    times[windows + window] = -MonotonicSeconds();
    for (int64_t i = 0; i < count; ++i) operation();
    device_.Synchronize();
    times[window] = MonotonicSeconds();
  }
  times = Largest(std::move(times));
  std::vector<double> seconds;
  for (size_t window = 0; window < windows; ++window) {
    const double elapsed_s = times[window] + times[windows + window];
    seconds.push_back(std::max(kShortest, elapsed_s / static_cast<double>(count)));
  }
  return seconds;
}

planner::Timing OperationTimer::Measure(const std::function<void()>& operation, bool takes_part,
                                        double slot_s) {
  const double start_s = MonotonicSeconds();
  std::vector<double> seconds = RunWindows(operation, takes_part, 1, 1);
  // For a short operation the first run says little. A long one runs once more, so that a
  // disturbance of one run does not count.
  if (seconds[0] >= slot_s / 2.0) {
    seconds.push_back(RunWindows(operation, takes_part, 1, 1)[0]);
  } else {
    const double left_s = slot_s * (1.0 - kProbeShare) - seconds[0];
    const int64_t probes = HowMany(slot_s * kProbeShare, seconds[0], kMaxProbes);
    const double each_s = RunWindows(operation, takes_part, probes, 1)[0];
    const double window_s = std::min(left_s / static_cast<double>(kTimerWindows), kLongestWindowS);
    const int64_t count = HowMany(window_s, each_s, kMaxWindowCount);
    seconds = RunWindows(
        operation, takes_part, count,
        static_cast<size_t>(HowMany(left_s, each_s * static_cast<double>(count), kTimerWindows)));
  }
  spent_s_ += Largest({MonotonicSeconds() - start_s})[0];
  return {.median_s = Median(seconds), .best_s = *std::min_element(seconds.begin(), seconds.end())};
}

}  // namespace meshwright::worker

#include "executor/gang/clock_estimate.h"

#include <algorithm>
#include <cstddef>

namespace meshwright::gang {
namespace {

// Clocks drift, so old exchanges are dropped.
constexpr size_t kMostSamples = 64;

}  // namespace

void ClockEstimate::Take(double sent_s, double remote_s, double received_s) {
  ++answers_;
  samples_.push_back(
      {.way_s = received_s - sent_s, .ahead_s = remote_s - (sent_s + received_s) / 2.0});
  if (samples_.size() > kMostSamples) samples_.pop_front();
}

double ClockEstimate::ahead_s() const {
  const auto best =
      std::min_element(samples_.begin(), samples_.end(),
                       [](const Sample& a, const Sample& b) { return a.way_s < b.way_s; });
  return best == samples_.end() ? 0.0 : best->ahead_s;
}

}  // namespace meshwright::gang

#include "planner/search/search_request.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "planner/estimate/peak_interval.h"

namespace meshwright::planner {
namespace {

// No estimate that could be of use fills a device this many times; keeps bytes inside 64 bits.
constexpr double kMostDevices = 1e6;

}  // namespace

void Funnel::Add(const Funnel& other) {
  enumerated += other.enumerated;
  invalid += other.invalid;
  left_out += other.left_out;
  memory += other.memory;
  evaluated += other.evaluated;
  for (size_t i = 0; i < invalid_by_rule.size(); ++i) {
    invalid_by_rule[i] += other.invalid_by_rule[i];
  }
}

int64_t AllowedBytes(const ClusterSpec& cluster) {
  return static_cast<int64_t>(kMemoryShare * static_cast<double>(cluster.device.memory_bytes));
}

int64_t AllowedBytes(const SearchRequest& request) {
  if (!request.max_oom_probability) return AllowedBytes(request.cluster);
  return BytesAtOomProbability(request, *request.max_oom_probability);
}

int64_t BytesAtOomProbability(const SearchRequest& request, double probability) {
  if (probability >= 1.0) return std::numeric_limits<int64_t>::max();
  const OomCurve curve = OomCurveOf(request.profile, PeakErrorOf(ContextOf(request)).shared);
  const double fraction = curve.center + curve.width * std::log(probability / (1.0 - probability));
  const auto memory_bytes = static_cast<double>(request.cluster.device.memory_bytes);
  return static_cast<int64_t>(std::clamp(fraction, 0.0, kMostDevices) * memory_bytes);
}

}  // namespace meshwright::planner

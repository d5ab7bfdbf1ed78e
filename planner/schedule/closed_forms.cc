#include "planner/schedule/closed_forms.h"

#include <algorithm>

namespace meshwright {

int64_t PeakChunksInFlight(const Layout& layout, int32_t rank, int64_t micro_batches) {
  const int64_t p = layout.pp;
  const int64_t v = layout.vpp;
  switch (layout.schedule) {
    case ScheduleKind::kGpipe:
    case ScheduleKind::kBreadthFirst:
      return micro_batches * v;
    case ScheduleKind::k1f1b:
      return std::min(micro_batches, p - rank) * v;
    case ScheduleKind::kInterleaved:
      return std::min(micro_batches * v, 2 * (p - rank - 1) + (v - 1) * p + 1);
    case ScheduleKind::kZbH1:
    case ScheduleKind::kZbV:
      return std::min(micro_batches, p) * v;
  }
  return micro_batches * v;
}

double BubbleMicroBatches(const Layout& layout) {
  return static_cast<double>(layout.pp - 1) / static_cast<double>(layout.vpp);
}

double ExposedHops(const Layout& layout, int64_t micro_batches) {
  if (layout.pp == 1) return 0.0;
  const auto p = static_cast<double>(layout.pp);
  const auto v = static_cast<double>(layout.vpp);
  const auto m = static_cast<double>(micro_batches);
  switch (layout.schedule) {
    case ScheduleKind::k1f1b:
      return 2.0 * (p - 1.0) * m / p + 2.0 * (p - 2.0);
    case ScheduleKind::kInterleaved:
    case ScheduleKind::kBreadthFirst:
      return 2.0 * (p * v - 1.0);
    case ScheduleKind::kGpipe:
    case ScheduleKind::kZbH1:
    case ScheduleKind::kZbV:
      return 2.0 * (p - 1.0);
  }
  return 0.0;
}

}  // namespace meshwright

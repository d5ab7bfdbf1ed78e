#include "planner/schedule/open_sends.h"

#include <optional>

#include "planner/schedule/placement.h"
#include "planner/schedule/synchronous_sends.h"

namespace meshwright::planner {

int32_t OpenSendsNeeded(const Layout& layout, int32_t micro_batches, const ScheduleLists& lists) {
  SynchronousTimes times;
  times.stages.assign(static_cast<size_t>(StageCount(layout)),
                      {.forward_s = 1.0, .input_gradient_s = 1.0, .weight_gradient_s = 1.0});
  const auto end_with = [&](int64_t most_open) {
    return TimeWithSynchronousSends(layout, lists, times, most_open);
  };
  // More open sends never hurt, and a rank never has more open than it sends.
  int32_t low = 1;
  int32_t high = layout.vpp * micro_batches + 1;
  const std::optional<double> best = end_with(high);
  while (low < high) {
    const int32_t middle = low + (high - low) / 2;
    if (end_with(middle) == best) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace meshwright::planner

#include "planner/schedule/schedule.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace meshwright {

absl::StatusOr<std::vector<Action>> MakeSchedule(const Layout& layout, int32_t rank,
                                                 int32_t micro_batches) {
  if (layout.schedule == ScheduleKind::k1f1b && layout.vpp == 1) {
    return Schedule1f1b(layout.pp, rank, micro_batches);
  }
  const std::string_view name = ScheduleName(layout.schedule);
  return absl::UnimplementedError(
      absl::StrCat("sched=", absl::string_view(name.data(), name.size()), " with vpp", layout.vpp,
                   " has no schedule list yet; 1f1b with vpp1 has"));
}

int32_t PeakInFlight(const std::vector<Action>& actions) {
  int32_t in_flight = 0;
  int32_t peak = 0;
  for (const Action& action : actions) {
    if (action.kind == ActionKind::kForward) {
      peak = std::max(peak, ++in_flight);
    } else if (action.kind != ActionKind::kBackwardInput) {
      --in_flight;  // the weight part is what ends a split backward
    }
  }
  return peak;
}

}  // namespace meshwright

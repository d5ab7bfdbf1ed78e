#include "planner/memory/oom_probability.h"

#include <cmath>

namespace meshwright::planner {

double OomProbability(const FrameworkProfile& profile, double fraction_of_device) {
  return 1.0 /
         (1.0 + std::exp((profile.kept.oom_center - fraction_of_device) / profile.kept.oom_width));
}

}  // namespace meshwright::planner

#include "planner/cost/stragglers.h"

#include "planner/spec/expected_maximum.h"

namespace meshwright::planner {

double StragglerFactor(double sigma, int64_t devices) {
  return sigma > 0.0 ? 1.0 + sigma * ExpectedMaximum(devices) : 1.0;
}

}  // namespace meshwright::planner

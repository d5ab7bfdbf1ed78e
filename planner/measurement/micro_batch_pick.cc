#include "planner/measurement/micro_batch_pick.h"

#include <algorithm>

#include "planner/estimate/estimate.h"
#include "planner/rules/rule_list.h"
#include "planner/search/search.h"
#include "planner/search/space.h"

namespace meshwright::planner {
namespace {

bool IsBetter(const Estimate& one, const Estimate& other) {
  const bool fits = one.oom_probability < kTrialOomProbability;
  if (fits != (other.oom_probability < kTrialOomProbability)) return fits;
  return fits ? one.time.step_s() < other.time.step_s()
              : one.oom_probability < other.oom_probability;
}

}  // namespace

int32_t PickMicroBatch(const EstimateContext& context, int64_t devices, Layout layout) {
  int32_t picked = 1;
  Estimate best;
  bool any = false;
  for (int64_t size = 1; size <= std::min(kMaxMicroBatch, context.training.global_batch);
       size *= 2) {
    layout.micro_batch = static_cast<int32_t>(size);
    if (CheckLayout(context, devices, layout)) continue;
    const Estimate estimate = EstimateLayout(context, layout);
    if (any && !IsBetter(estimate, best)) continue;
    any = true;
    best = estimate;
    picked = layout.micro_batch;
  }
  return picked;
}

}  // namespace meshwright::planner

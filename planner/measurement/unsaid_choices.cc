#include "planner/measurement/unsaid_choices.h"

#include <algorithm>
#include <optional>

#include "planner/block/stage_partition.h"
#include "planner/estimate/estimate.h"
#include "planner/rules/rule_list.h"
#include "planner/search/module_recompute.h"
#include "planner/search/search.h"
#include "planner/search/space.h"

namespace meshwright::planner {
namespace {

// A run whose layers do not divide had stages of its own, which few sources name.
void SpreadLayers(const EstimateContext& context, Layout& layout) {
  const Supports& supports = context.profile.supports;
  const int64_t stages = int64_t{layout.pp} * layout.vpp;
  if (!supports.has_stages || !layout.stages.empty() || stages < 2) return;
  if (CanPartition(context.shapes.layers(), layout, supports.stage_partition)) return;
  layout.stages = SplitWithShortEnds(context.model.layers(), stages);
}

bool FitsLikely(const Estimate& estimate) { return estimate.oom_probability < kLikelyProbability; }

bool IsBetter(const Estimate& one, const Estimate& other) {
  const bool fits = FitsLikely(one);
  if (fits != FitsLikely(other)) return fits;
  return fits ? one.time.step_s() < other.time.step_s()
              : one.oom_probability < other.oom_probability;
}

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

// Picks the layout with the shortest step among those that are likely to fit.
class FastestThatFits {
 public:
  FastestThatFits(const EstimateContext& context, int64_t devices)
      : context_(context), devices_(devices) {}

  // Returns whether the layout is likely to fit.
  bool Try(const Layout& layout) {
    if (CheckLayout(context_, devices_, layout)) return false;
    const Estimate estimate = EstimateLayout(context_, layout);
    if (!FitsLikely(estimate)) return false;
    if (!picked_ || estimate.time.step_s() < step_s_) {
      picked_ = layout;
      step_s_ = estimate.time.step_s();
    }
    return true;
  }
  const std::optional<Layout>& picked() const { return picked_; }

 private:
  const EstimateContext& context_;
  int64_t devices_;
  std::optional<Layout> picked_;
  double step_s_ = 0.0;
};

Layout WithRecompute(Layout layout, Recompute recompute, int32_t layers) {
  layout.recompute = recompute;
  layout.recompute_layers = layers;
  return layout;
}

Layout WithLeastRecompute(const EstimateContext& context, int64_t devices, const Layout& layout) {
  FastestThatFits fastest(context, devices);
  if (fastest.Try(layout)) return layout;
  const RuleInput input = {
      .model = context.model, .training = context.training, .profile = context.profile};
  ForEachMoreModules(layout, SearchedModules(input),
                     [&](const Layout& more) { return !fastest.Try(more); });
  fastest.Try(WithRecompute(layout, Recompute::kSelective, 0));
  const int64_t chunk = context.model.layers() / (int64_t{layout.pp} * layout.vpp);
  for (int32_t layers = 1; layers < chunk; layers *= 2) {
    if (fastest.Try(WithRecompute(layout, Recompute::kBlock, layers))) break;
  }
  fastest.Try(WithRecompute(layout, Recompute::kFull, 0));
  return fastest.picked().value_or(layout);
}

}  // namespace

Layout WithUnsaidChoices(const Measurement& row, const EstimateContext& context, int64_t devices,
                         Layout layout) {
  SpreadLayers(context, layout);
  if (!row.mbs) layout.micro_batch = PickMicroBatch(context, devices, layout);
  const bool unsaid = row.act_ckpt.empty() && layout.offload == Offload();
  return unsaid ? WithLeastRecompute(context, devices, layout) : layout;
}

}  // namespace meshwright::planner

#include "planner/cost/layer_timeline.h"

#include <algorithm>
#include <array>

#include "base/text/enum_names.h"
#include "planner/block/block.h"

namespace meshwright::planner {
namespace {

constexpr EnumNames<OperatorKind, 8> kKindNames = {{
    {OperatorKind::kMatmul, "matmul"},
    {OperatorKind::kAttention, "attention"},
    {OperatorKind::kNorm, "norm"},
    {OperatorKind::kElementwise, "elementwise"},
    {OperatorKind::kEmbedding, "embedding"},
    {OperatorKind::kCrossEntropy, "cross_entropy"},
    {OperatorKind::kCollective, "collective"},
    {OperatorKind::kCore, "core"},
}};

using TimeField = double LayerTime::*;

constexpr std::array kComputeFields = {&LayerTime::forward_s, &LayerTime::input_gradient_s,
                                       &LayerTime::weight_gradient_s, &LayerTime::recompute_s};
constexpr std::array kContextFields = {&LayerTime::cp_forward_s, &LayerTime::cp_backward_s,
                                       &LayerTime::cp_recompute_s};
// Compute may hide a share of these.
constexpr std::array kHiddenFields = {&LayerTime::tp_forward_s,   &LayerTime::tp_backward_s,
                                      &LayerTime::tp_recompute_s, &LayerTime::ep_forward_s,
                                      &LayerTime::ep_backward_s,  &LayerTime::ep_recompute_s};

template <typename Visit>
void ForEachField(const Visit& visit) {
  for (const TimeField field : kComputeFields) visit(field);
  for (const TimeField field : kContextFields) visit(field);
  for (const TimeField field : kHiddenFields) visit(field);
}

bool TakesTime(const LayerTime& time) {
  bool takes = false;
  ForEachField([&](TimeField field) { takes = takes || time.*field > 0.0; });
  return takes;
}

bool IsWhole(const LayerRecompute& recompute) {
  return recompute.mode == Recompute::kFull || recompute.mode == Recompute::kBlock;
}

// Returns the time of one operator before compute hides anything. Under recompute of the whole
// layer, an operator that runs again takes the time of its whole forward once more.
LayerTime TimeAlone(const StepShape& step, const BlockSums& block, const Operator& op, bool whole) {
  OperatorList alone;
  alone.push_back(op);
  LayerTime time = TimeWithoutOverlap(step, block, CostOf(alone));
  if (!whole || !op.recomputed) return time;
  time.recompute_s = time.forward_s;
  time.tp_recompute_s = time.tp_forward_s;
  time.cp_recompute_s = time.cp_forward_s;
  time.ep_recompute_s = time.ep_forward_s;
  return time;
}

void Add(const Operator& op, const LayerTime& time, std::vector<OperatorTime>& entries) {
  if (!TakesTime(time)) return;
  const std::string_view name = NameOf(op.name);
  const auto entry = std::find_if(entries.begin(), entries.end(),
                                  [&](const OperatorTime& e) { return e.name == name; });
  if (entry == entries.end()) {
    entries.push_back({.name = name, .kind = NameOf(kKindNames, op.kind), .time = time});
  } else {
    ForEachField([&](TimeField field) { entry->time.*field += time.*field; });
  }
}

LayerTime Sum(const std::vector<OperatorTime>& entries) {
  LayerTime sum;
  for (const OperatorTime& entry : entries) {
    ForEachField([&](TimeField field) { sum.*field += entry.time.*field; });
  }
  return sum;
}

// Leaves of the entries' collectives what the layer `total` exposes of them.
void Hide(const LayerTime& total, std::vector<OperatorTime>& entries) {
  const LayerTime sum = Sum(entries);
  for (const TimeField field : kHiddenFields) {
    if (sum.*field <= 0.0) continue;
    const double exposed = total.*field / (sum.*field);
    for (OperatorTime& entry : entries) entry.time.*field *= exposed;
  }
}

}  // namespace

std::vector<OperatorTime> LayerTimeline(const StepShape& step, size_t shape,
                                        const LayerRecompute& recompute) {
  const BlockSums& block = step.planned.block(shape);
  const bool whole = IsWhole(recompute);
  OperatorList operators = BlockOperators(block.shape);
  Apply(PartsOf(recompute, block.shape), operators);
  std::vector<OperatorTime> entries;
  for (const Operator& op : operators) Add(op, TimeAlone(step, block, op, whole), entries);

  const LayerTime layer = EstimateLayer(step, shape);
  Hide(whole ? Recomputed(step, block, layer) : layer, entries);
  LayerTime wait = HostWait(step, block, Sum(entries));
  if (whole && layer.has_backward()) wait.recompute_s = wait.forward_s;
  if (TakesTime(wait)) entries.push_back({.name = kHostWait, .kind = kHostWait, .time = wait});
  return entries;
}

}  // namespace meshwright::planner

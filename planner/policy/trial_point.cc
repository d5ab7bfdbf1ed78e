#include "planner/policy/trial_point.h"

#include <cmath>
#include <cstddef>
#include <type_traits>

namespace meshwright::planner {
namespace {

void AddOctaves(int64_t value, TrialPoint& point) {
  point.push_back(std::log2(static_cast<double>(value)));
}

// How far apart two words, two settings of a switch and two stages of ZeRO are.
constexpr double kOneStep = 0.5;

void AddSwitch(bool on, TrialPoint& point) { point.push_back(on ? kOneStep : 0.0); }

template <typename Enum>
void AddWord(Enum value, Enum last, TrialPoint& point) {
  using Number = std::underlying_type_t<Enum>;
  const double height = kOneStep * std::sqrt(0.5);
  for (int i = 0; i <= static_cast<Number>(last); ++i) {
    point.push_back(static_cast<Number>(value) == i ? height : 0.0);
  }
}

}  // namespace

TrialPoint PointOf(const Layout& layout) {
  TrialPoint point;
  for (const int32_t size : {layout.tp, layout.cp, layout.pp, layout.dp, layout.ep, layout.etp,
                             layout.micro_batch, layout.vpp}) {
    AddOctaves(size, point);
  }
  point.push_back(kOneStep * layout.zero);
  AddSwitch(layout.sequence_parallel, point);
  AddSwitch(layout.shard_ranks > 0, point);
  AddSwitch(!layout.stages.empty(), point);
  AddSwitch(layout.offload != Offload{}, point);
  AddWord(layout.recompute, Recompute::kModules, point);
  AddWord(layout.schedule, ScheduleKind::kZbV, point);
  AddWord(layout.attention, AttentionKernel::kEager, point);
  AddWord(layout.norm, NormKernel::kEager, point);
  return point;
}

double SquaredDistance(const TrialPoint& a, const TrialPoint& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

double DotProduct(const TrialPoint& a, const TrialPoint& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace meshwright::planner

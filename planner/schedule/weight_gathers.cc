#include "planner/schedule/weight_gathers.h"

#include <algorithm>
#include <set>

namespace meshwright {
namespace {

constexpr size_t kNever = static_cast<size_t>(-1);

// What of each use's weights the use before it, of the same unit, does not leave.
std::vector<UnitGroup> Missing(const std::vector<WeightUse>& uses,
                               const std::vector<GatherStep>& steps) {
  std::vector<UnitGroup> missing(uses.size());
  std::set<int32_t> whole;
  for (size_t i = 0; i < uses.size(); ++i) {
    for (const int32_t unit : uses[i].units) {
      if (whole.insert(unit).second) missing[i].push_back(unit);
    }
    for (const int32_t unit : steps[i].release) whole.erase(unit);
  }
  return missing;
}

// Fills in what each use releases.
void PlanReleases(const std::vector<WeightUse>& uses, std::vector<GatherStep>& steps) {
  std::vector<size_t> next_use;  // by unit, seen from the end
  for (size_t i = uses.size(); i-- > 0;) {
    for (const int32_t unit : uses[i].units) {
      if (next_use.size() <= static_cast<size_t>(unit)) next_use.resize(unit + 1, kNever);
      const size_t next = next_use[unit];
      const bool stays = next != kNever && (next == i + 1 || uses[next].pass == uses[i].pass);
      if (!stays) steps[i].release.push_back(unit);
      next_use[unit] = i;
    }
  }
}

}  // namespace

std::vector<WeightUse> WeightUses(const std::vector<Action>& actions,
                                  const std::vector<ChunkWeights>& chunks, bool layered) {
  std::vector<WeightUse> uses;
  int32_t pass = 0;
  const auto use = [&](const UnitGroup& units) {
    if (!layered) ++pass;
    uses.push_back({.units = units, .pass = pass});
  };
  for (size_t i = 0; i < actions.size(); ++i) {
    const Action& action = actions[i];
    if (i > 0 && (actions[i - 1].kind != action.kind || actions[i - 1].chunk != action.chunk)) {
      ++pass;
    }
    const ChunkWeights& chunk = chunks[static_cast<size_t>(action.chunk)];
    if (action.kind == ActionKind::kForward) {
      for (const UnitGroup& units : chunk.groups) use(units);
    } else if (action.kind != ActionKind::kBackwardWeight) {
      const size_t first = chunk.has_embedding ? 1 : 0;
      for (size_t group = chunk.groups.size(); group-- > first;) use(chunk.groups[group]);
    }
  }
  return uses;
}

std::vector<GatherStep> PlanGathers(const std::vector<WeightUse>& uses) {
  std::vector<GatherStep> steps(uses.size());
  PlanReleases(uses, steps);
  const std::vector<UnitGroup> missing = Missing(uses, steps);
  std::vector<size_t> next_missing(uses.size(), kNever);  // the next use that misses something
  for (size_t i = uses.size(); i-- > 1;) {
    next_missing[i - 1] = missing[i].empty() ? next_missing[i] : i;
  }
  std::set<int32_t> whole;
  size_t ahead = kNever;  // the use gathered for last
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!missing[i].empty() && ahead != i) {
      steps[i].gather = missing[i];
      whole.insert(missing[i].begin(), missing[i].end());
    }
    const size_t next = next_missing[i];
    // Weights of a later pass may still be whole for this one.
    const bool free =
        next != kNever && std::none_of(missing[next].begin(), missing[next].end(),
                                       [&](int32_t unit) { return whole.contains(unit); });
    if (free && (ahead == kNever || ahead <= i)) {
      steps[i].prefetch = missing[next];
      whole.insert(missing[next].begin(), missing[next].end());
      ahead = next;
    }
    for (const int32_t unit : steps[i].release) whole.erase(unit);
  }
  return steps;
}

}  // namespace meshwright

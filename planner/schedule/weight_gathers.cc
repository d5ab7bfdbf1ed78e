#include "planner/schedule/weight_gathers.h"

#include <algorithm>

namespace meshwright::planner {
namespace {

constexpr size_t kNever = static_cast<size_t>(-1);

// The set of units whose weights are whole.
class WholeUnits {
 public:
  explicit WholeUnits(const std::vector<WeightUse>& uses) {
    int32_t most = -1;
    for (const WeightUse& use : uses) {
      for (const int32_t unit : use.units) most = std::max(most, unit);
    }
    whole_.assign(static_cast<size_t>(most) + 1, false);
  }

  bool Has(int32_t unit) const { return whole_[unit]; }
  void Add(const UnitGroup& units) {
    for (const int32_t unit : units) whole_[unit] = true;
  }
  void Remove(const UnitGroup& units) {
    for (const int32_t unit : units) whole_[unit] = false;
  }

 private:
  std::vector<bool> whole_;
};

// Returns, by use, the units that the use before it does not leave whole.
std::vector<UnitGroup> Missing(const std::vector<WeightUse>& uses,
                               const std::vector<GatherStep>& steps) {
  std::vector<UnitGroup> missing(uses.size());
  WholeUnits whole(uses);
  for (size_t i = 0; i < uses.size(); ++i) {
    for (const int32_t unit : uses[i].units) {
      if (!whole.Has(unit)) missing[i].push_back(unit);
    }
    whole.Add(missing[i]);
    whole.Remove(steps[i].release);
  }
  return missing;
}

// Sets what each use releases.
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
    } else if (PassesOn(action.kind)) {
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
  std::vector<size_t> next_missing(uses.size(), kNever);  // the next use that misses a unit
  for (size_t i = uses.size(); i-- > 1;) {
    next_missing[i - 1] = missing[i].empty() ? next_missing[i] : i;
  }
  WholeUnits whole(uses);
  size_t ahead = kNever;  // the use whose weights were gathered last
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!missing[i].empty() && ahead != i) {
      steps[i].gather = missing[i];
      whole.Add(missing[i]);
    }
    const size_t next = next_missing[i];
    // Weights of a later pass may still be whole for this one.
    const bool free = next != kNever && std::none_of(missing[next].begin(), missing[next].end(),
                                                     [&](int32_t unit) { return whole.Has(unit); });
    if (free && (ahead == kNever || ahead <= i)) {
      steps[i].prefetch = missing[next];
      whole.Add(missing[next]);
      ahead = next;
    }
    whole.Remove(steps[i].release);
  }
  return steps;
}

}  // namespace meshwright::planner

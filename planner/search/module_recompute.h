// Selects which modules of a layer to recompute so that a layout just fits.
//
// Modules are added in the order of RecomputeModule, which starts with the modules that free the
// most bytes per second of recompute. There are too many sets of modules to rank them all.
#pragma once

#include "planner/layout/layout.h"
#include "planner/rules/recompute_rules.h"

namespace meshwright::planner {

// Returns the modules that a search considers: those that the framework can recompute and the model
// has. Attention alone is left out, because Recompute::kSelective covers it. Under delayed FP8
// scales, modules that can't be recomputed with such scales are left out too.
inline RecomputeModules SearchedModules(const RuleInput& input) {
  RecomputeModules modules =
      RecomputeModulesOf(input.model).And(input.profile.supports.recompute_modules);
  modules.Remove(RecomputeModule::kCoreAttn);
  if (input.training.precision == Precision::kFp8Delayed) {
    modules.Remove(RecomputeModule::kLayerNorm);
    modules.Remove(RecomputeModule::kMoeAct);
  }
  return modules;
}

inline Layout WithModules(Layout layout, const RecomputeModules& modules) {
  layout.recompute = modules.empty() ? Recompute::kNone : Recompute::kModules;
  layout.recompute_layers = 0;
  layout.recompute_modules = modules;
  return layout;
}

// Adds a module. Recomputing experts as a whole (kMoe) replaces recomputing their parts.
inline void AddModule(RecomputeModule module, RecomputeModules& modules) {
  if (module == RecomputeModule::kMoe) {
    modules.Remove(RecomputeModule::kMoeAct);
    modules.Remove(RecomputeModule::kSharedExperts);
  }
  modules.Add(module);
}

// Calls visit with `layout` plus the first module of `all` that it lacks, then plus the first two,
// and so on, until visit returns false.
template <typename Visit>
void ForEachMoreModules(const Layout& layout, const RecomputeModules& all, const Visit& visit) {
  RecomputeModules modules = layout.recompute_modules;
  bool goes_on = true;
  all.Without(modules).ForEach([&](RecomputeModule module) {
    if (!goes_on) return;
    const bool inside_another =
        modules.Has(RecomputeModule::kMoe) &&
        (module == RecomputeModule::kMoeAct || module == RecomputeModule::kSharedExperts);
    if (inside_another) return;
    AddModule(module, modules);
    goes_on = visit(WithModules(layout, modules));
  });
}

inline Layout WithAllModules(const Layout& layout, const RecomputeModules& all) {
  Layout most = layout;
  ForEachMoreModules(layout, all, [&most](const Layout& more) {
    most = more;
    return true;
  });
  return most;
}

// Adds modules of `all` in order until fits(layout) is true. Then removes each module without which
// fits(layout) stays true. Returns the resulting layout. REQUIRES: fits is true with all modules of
// `all`.
template <typename Fits>
Layout LeastModules(const Layout& layout, const RecomputeModules& all, const Fits& fits) {
  RecomputeModules least;
  ForEachMoreModules(layout, all, [&](const Layout& more) {
    least = more.recompute_modules;
    return !fits(more);
  });
  RecomputeModules needed = least;
  least.ForEach([&](RecomputeModule module) {
    RecomputeModules fewer = needed;
    fewer.Remove(module);
    if (!fewer.empty() && fits(WithModules(layout, fewer))) needed = fewer;
  });
  return WithModules(layout, needed);
}

}  // namespace meshwright::planner

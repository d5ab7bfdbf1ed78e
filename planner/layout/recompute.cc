#include "planner/layout/recompute.h"

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
std::string_view RecomputeName(Recompute recompute) {
  return meshwright::NameOf(kRecomputeNames, recompute);
}

std::string_view RecomputeModuleName(RecomputeModule module) {
  return meshwright::NameOf(kRecomputeModuleNames, module);
}

std::string AllRecomputeModules() {
  RecomputeModules all;
  for (const auto& [module, name] : kRecomputeModuleNames) all.Add(module);
  return NamesOf(all, RecomputeModuleName);
}

absl::StatusOr<RecomputeModules> ParseRecomputeModules(std::string_view text) {
  RecomputeModules modules;
  const absl::string_view whole = AbslView(text);
  for (const absl::string_view name :
       absl::StrSplit(whole, absl::ByAnyChar("+ ,"), absl::SkipEmpty())) {
    ASSIGN_OR_RETURN(const RecomputeModule module,
                     KindOf(kRecomputeModuleNames, "recompute_modules",
                            std::string_view(name.data(), name.size())));
    modules.Add(module);
  }
  if (modules.empty()) {
    return FieldError("recompute_modules", text, "must name at least one module");
  }
  return modules;
}

}  // namespace meshwright::planner

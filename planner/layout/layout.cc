#include "planner/layout/layout.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"

namespace meshwright::planner {

std::string FormatRecompute(const Layout& layout) {
  if (layout.recompute == Recompute::kBlock) {
    return absl::StrCat("block:", layout.recompute_layers);
  }
  if (layout.recompute == Recompute::kModules) {
    return NamesOf(layout.recompute_modules, RecomputeModuleName, "+");
  }
  return std::string(RecomputeName(layout.recompute));
}

absl::Status ParseRecompute(std::string_view value, Layout& layout) {
  layout.recompute_layers = 0;
  layout.recompute_modules = {};
  for (const Recompute kind : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    if (value == RecomputeName(kind)) {
      layout.recompute = kind;
      return absl::OkStatus();
    }
  }
  absl::string_view layers = AbslView(value);
  if (absl::ConsumePrefix(&layers, "block:") &&
      absl::SimpleAtoi(layers, &layout.recompute_layers) && layout.recompute_layers > 0 &&
      layout.recompute_layers <= kMaxAxis) {
    layout.recompute = Recompute::kBlock;
    return absl::OkStatus();
  }
  const absl::StatusOr<RecomputeModules> modules = ParseRecomputeModules(value);
  if (!modules.ok()) {
    return FieldError(
        "layout", absl::StrCat("rc=", AbslView(value)),
        absl::StrCat("rc must be none, selective, full, block:N or modules divided by +: ",
                     AllRecomputeModules()));
  }
  layout.recompute = Recompute::kModules;
  layout.recompute_modules = *modules;
  return absl::OkStatus();
}

std::string_view ScheduleName(ScheduleKind schedule) { return NameOf(kScheduleNames, schedule); }

}  // namespace meshwright::planner

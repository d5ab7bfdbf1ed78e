#include "planner/rules/refusal.h"

#include <string>
#include <vector>

#include "base/text/field_error.h"
#include "planner/profile/part_refusal.h"
#include "planner/rules/kernel_rules.h"
#include "planner/rules/rule_list.h"

namespace meshwright::planner {

bool IsAboutParts(const Violation& violation) {
  switch (violation.rule) {
    case Rule::kFfnKind:
    case Rule::kQkNorm:
      return true;
    case Rule::kModelPart:
      return static_cast<RunsPart>(violation.operands.more[0]) == RunsPart::kNowhere;
    default:
      return false;
  }
}

absl::Status RefusalOf(const ModelSpec& model, const FrameworkProfile& profile,
                       const Layout& layout, const Violation& violation) {
  if (IsAboutParts(violation)) {
    return RefuseParts(model, LackingParts(model, profile.supports.kernels), {},
                       "the worker has no layer for",
                       "trial --runner FILE runs it in a framework that has (docs/runners.md), and "
                       "estimate and recommend plan it");
  }
  if (violation.rule == Rule::kHeadDim || violation.rule == Rule::kOneHeadDim) {
    return FieldError("head_dim", violation.operands.value, Describe(violation));
  }
  return FieldError("layout", FormatLayout(layout), Describe(violation));
}

}  // namespace meshwright::planner

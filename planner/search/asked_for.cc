#include "planner/search/asked_for.h"

#include "base/text/field_error.h"
#include "planner/layout/layout.h"
#include "planner/rules/framework_rules.h"
#include "planner/rules/limit_rules.h"
#include "planner/rules/offload_rules.h"
#include "planner/rules/rule_list.h"

namespace meshwright::planner {

absl::Status CheckAskedFor(const SearchRequest& request) {
  const EstimateContext context = ContextOf(request);
  const RuleInput input = RuleInputOf(context, request.devices);
  Operands operands;
  if (DeviceLacksFormat(input, Layout(), operands)) {
    return FieldError("dtype", PrecisionName(request.training.precision),
                      DescribeDeviceFormat(operands));
  }
  for (const Offload& offload : request.offloads) {
    Layout layout;  // the plainest layout with this offload
    layout.offload = offload;
    if (LacksOffload(input, layout, operands)) {
      return FieldError("offload", FormatOffload(offload), DescribeFramework(operands));
    }
    if (LacksHostFigures(input, layout, operands)) {
      return FieldError("offload", FormatOffload(offload), DescribeHostFigures(operands));
    }
  }
  if (request.training.optimizer.paged && LacksHostFigures(input, Layout(), operands)) {
    return FieldError("optimizer", request.training.optimizer.name, DescribeHostFigures(operands));
  }
  return absl::OkStatus();
}

}  // namespace meshwright::planner

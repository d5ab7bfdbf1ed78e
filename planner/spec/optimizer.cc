#include "planner/spec/optimizer.h"

#include <vector>

#include "base/text/field_error.h"
#include "base/text/message_text.h"

namespace meshwright::planner {

absl::StatusOr<Optimizer> ParseOptimizer(std::string_view text) {
  for (const Optimizer& optimizer : kOptimizers) {
    if (text == optimizer.name) return optimizer;
  }
  std::vector<std::string_view> names;
  for (const Optimizer& optimizer : kOptimizers) names.push_back(optimizer.name);
  return FieldError("optimizer", text, "must be " + ListInWords(names, "or"));
}

}  // namespace meshwright::planner

#include "planner/spec/optimizer.h"

#include "base/text/field_error.h"

namespace meshwright::planner {

absl::StatusOr<Optimizer> ParseOptimizer(std::string_view text) {
  for (const Optimizer& optimizer : kOptimizers) {
    if (text == optimizer.name) return optimizer;
  }
  return FieldError("optimizer", text, "must be adamw, muon, sgd, lion, adafactor or paged-adamw");
}

}  // namespace meshwright::planner

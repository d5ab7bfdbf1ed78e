#include "planner/rules/limit_rules.h"

#include <algorithm>

#include "planner/rules/operands.h"

namespace meshwright::planner {
namespace {

constexpr double kMostBytes = 4e18;

// An upper bound of what is kept per token, layer and element of the widest tensor.
constexpr double kBytesPerElement = 64.0;

bool IsOver(int32_t value, int32_t most, Operands& operands) {
  return most > 0 && value > most && Broken(value, most, operands);
}

}  // namespace

bool IsTooLarge(const RuleInput& input, const Layout& layout, Operands& operands) {
  const ModelSpec& model = input.model;
  int64_t width = std::max({model.hidden, model.vocab});
  for (const LayerGroup& group : model.groups) {
    width = std::max({width, group.attention.query_width(), group.ffn.hidden});
  }
  const double bytes = kBytesPerElement * static_cast<double>(width) *
                       static_cast<double>(model.layers()) *
                       static_cast<double>(input.training.seq_len) * layout.micro_batch;
  return bytes >= kMostBytes && Broken(input.training.seq_len, 0, operands);
}

bool HasTooManyContextRanks(const RuleInput& input, const Layout& layout, Operands& operands) {
  return IsOver(layout.cp, input.profile.supports.kernels.max_cp, operands);
}

bool HasTooManyChunks(const RuleInput& input, const Layout& layout, Operands& operands) {
  return IsOver(layout.vpp, input.profile.supports.kernels.max_vpp, operands);
}

}  // namespace meshwright::planner

// Rules about the largest sizes that the planner can count and that a program can run, and about
// the number formats of the device. Each rule's function returns whether the layout breaks it
// (planner/rules/rule.h).
#pragma once

#include <algorithm>
#include <string>

#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// From this number of bytes on, a size counts as too large. int64_t holds about twice as many.
inline constexpr double kMostBytes = 4e18;

// An upper bound on the bytes kept per token, per layer and per element of the widest tensor.
inline constexpr double kBytesPerElement = 64.0;

// Returns whether an upper bound on the bytes that the planner would count reaches kMostBytes.
inline bool IsTooLarge(const RuleInput& input, const Layout& layout, Operands& operands) {
  const ModelSpec& model = input.model;
  int64_t width = std::max({model.hidden, model.vocab});
  for (size_t shape = 0; shape < input.shapes.size(); ++shape) {
    const LayerGroup& group = input.shapes.Of(model, shape);
    width = std::max(
        {width, group.attention.query_width(), group.ffn.hidden, group.recurrence.inner_width()});
  }
  const double bytes = kBytesPerElement * static_cast<double>(width) *
                       static_cast<double>(input.shapes.layers()) *
                       static_cast<double>(input.training.seq_len) * layout.micro_batch;
  return bytes >= kMostBytes && Broken(input.training.seq_len, 0, operands);
}

inline bool DeviceLacksFormat(const RuleInput& input, const Layout&, Operands& operands) {
  return !input.device_has_products &&
         Broken(static_cast<int64_t>(input.training.precision), 0, operands);
}

// Returns whether the device multiplies in the formats of the training's products.
bool HasProducts(const HardwareProfile& device, const TrainingSpec& training);

// Returns a sentence that names what the device lacks: a peak in FLOP/s that is 0 in the cluster,
// or products that apply the scales of blocks.
std::string DescribeDeviceFormat(const Operands& operands);

inline bool IsOver(int32_t value, int32_t most, Operands& operands) {
  return most > 0 && value > most && Broken(value, most, operands);
}

inline bool HasTooManyContextRanks(const RuleInput& input, const Layout& layout,
                                   Operands& operands) {
  return IsOver(layout.cp, input.profile.supports.kernels.max_cp, operands);
}

inline bool HasTooManyChunks(const RuleInput& input, const Layout& layout, Operands& operands) {
  return IsOver(layout.vpp, input.profile.supports.kernels.max_vpp, operands);
}

}  // namespace meshwright::planner

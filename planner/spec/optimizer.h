// The optimizer of a training run, as what it keeps per parameter and what an update moves.
#pragma once

#include <cstdint>
#include <string_view>

#include "planner/spec/number_formats.h"

namespace meshwright::planner {

struct Optimizer {
  std::string_view name;  // static storage
  // Values per parameter that live from step to step, each in NumberFormats::optimizer_states; the
  // master copy of narrower weights is not one of them.
  int32_t states = 0;
  // Device memory that an update of one parameter reads and writes under mixed precision. An
  // update's arithmetic, some twenty operations a parameter, hides behind this traffic on every
  // device, so that its time is these bytes' alone.
  double update_traffic_bytes = 0.0;

  friend bool operator==(const Optimizer&, const Optimizer&) = default;
};

// AdamW (Loshchilov and Hutter, arXiv 1711.05101): two moments. An update reads the gradient, reads
// and writes the master weight and both moments in fp32, and writes the weight in bf16:
// 4 + 3 * (4 + 4) + 2.
inline constexpr Optimizer kAdamW = {.name = "adamw", .states = 2, .update_traffic_bytes = 30.0};

// Bytes per parameter of the states and, where there is one, of the master copy.
constexpr int64_t StateBytes(const Optimizer& optimizer, const NumberFormats& formats) {
  const int64_t values = optimizer.states + (formats.HasMasterWeights() ? 1 : 0);
  return values * BytesOf(formats.optimizer_states);
}

}  // namespace meshwright::planner

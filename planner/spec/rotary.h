// Computes how many elements of a head's queries and keys a rotary embedding rotates.
#pragma once

#include <cmath>
#include <cstdint>

#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Returns how many leading elements of a head of `head_dim` are rotated. The number is even; it is
// 0 if the model encodes positions in another way.
inline int64_t RotaryElements(const ModelSpec& model, int64_t head_dim) {
  if (model.positions != Positions::kRotary) return 0;
  return 2 * std::llround(model.rotary_share * static_cast<double>(head_dim) / 2.0);
}

// Returns how many elements of each head of a layer are rotated. With latent attention this is the
// part of a head that is reserved for the rotation.
inline int64_t RotaryElements(const ModelSpec& model, const Attention& attention) {
  if (!attention.is_latent()) return RotaryElements(model, attention.head_dim);
  return model.positions == Positions::kRotary ? attention.rotary_dim : 0;
}

}  // namespace meshwright::planner

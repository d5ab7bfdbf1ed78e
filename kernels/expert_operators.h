// The fused operators of a mixture of experts (kernels/operators.h says what holds of all).
//
// A slot is one of the top_k experts of a token: slots of a token are neighbours. Rows are slots in
// the order of their experts.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/element.h"

namespace meshwright::kernels {

// What makes scores of a router's logits: the softmax over all experts, or each one's sigmoid.
enum class RouterScore : uint8_t { kSoftmax, kSigmoid };

// Picks each token's experts and weighs them. The best scores are picked, the lowest expert first
// among equals; where there are groups of neighbouring experts, from the `top_groups` groups whose
// `group_best` best scores have the largest sums. A bias of each expert is added to its score for
// that alone. The weights of a token are its scores divided by their sum; a single score stays as
// it is.
struct RouterForward {
  static constexpr int64_t kMostPicks = 32;
  static constexpr int64_t kMostGroups = 32;
  static constexpr int64_t kMostGroupBest = 2;

  ElementType type;
  int64_t rows;
  int64_t experts;
  int64_t top_k;       // at most kMostPicks
  int64_t groups;      // divides experts; at most kMostGroups
  int64_t top_groups;  // together they have top_k experts
  int64_t group_best;  // at most kMostGroupBest, and no more than a group has
  RouterScore score;
  bool picks;                            // false: `picked` says already which experts are taken
  const void* selection_bias = nullptr;  // [experts], acc; null: none
  const void* logits;                    // [rows, experts]
  int32_t* picked;                       // [rows, top_k]
  void* weights;                         // [rows, top_k], acc
};

// What keeps a router in shape, by its gradient. The balance loss is the sum of
// scale * slots * score over experts and tokens, where `slots` counts those of the token's sequence
// that go to the expert, and the token's scores are divided by their sum; the z-loss is
// z_scale / 2 * log(sum over experts of exp(logit))^2 of each token.
struct RouterLosses {
  const void* slots = nullptr;  // [sequences, experts], acc; null: no balance loss
  double scale = 0.0;
  int64_t first_row = 0;  // row r is of sequence (first_row + r) / sequence_rows
  int64_t sequence_rows = 1;
  double z_scale = 0.0;  // 0: no z-loss

  constexpr bool any() const { return slots != nullptr || z_scale != 0.0; }
};

// The gradient of the logits, from that of the weights and of the router's losses.
struct RouterBackward {
  ElementType type;
  int64_t rows;
  int64_t experts;
  int64_t top_k;
  RouterScore score;
  RouterLosses losses;
  const void* logits;     // [rows, experts]
  const int32_t* picked;  // [rows, top_k]
  const void* dweights;   // [rows, top_k], acc
  void* dlogits;          // [rows, experts]; may be logits
};

// y[i] = x[index[i] / divisor], or 0 where the index is negative.
struct GatherRows {
  ElementType type;
  int64_t rows;  // of y
  int64_t width;
  int64_t divisor;
  const int32_t* index;  // [rows]
  const void* x;         // [.., width]
  void* y;               // [rows, width]
};

// y[index[i]] = x[i]; rows that no index names stay as they are.
struct ScatterRows {
  ElementType type;
  int64_t rows;  // of x
  int64_t width;
  const int32_t* index;  // [rows], no two alike
  const void* x;         // [rows, width]
  void* y;               // [.., width]
};

// y[i] = sum over j of x[index[i, j]], without those whose index is negative.
struct SumRows {
  ElementType type;
  int64_t rows;  // of y
  int64_t terms;
  int64_t width;
  const int32_t* index;  // [rows, terms]
  const void* x;         // [.., width]
  void* y;               // [rows, width]
};

// What SwiGLU makes of its two operands: min(gate, limit), whose sigmoid has a slope, and up within
// [-limit, limit] plus an offset. Beyond the limit there is no gradient.
struct SwigluForm {
  double limit = std::numeric_limits<double>::infinity();
  double slope = 1.0;
  double offset = 0.0;
};

// GPT-OSS' (its modeling_gpt_oss.py in transformers).
constexpr SwigluForm ClampedSwiglu(double limit) {
  return {.limit = limit, .slope = 1.702, .offset = 1.0};
}

// product = gate * sigmoid(slope * gate) * (up + offset) * the row's weight, of operands within the
// form's limit. A row of gate_up is gate, then up.
struct ExpertSwigluForward {
  ElementType type;
  int64_t rows;
  int64_t width;  // of gate, of up and of the product
  SwigluForm form = {};
  const void* gate_up;  // [rows, 2 width]
  const void* weights;  // [rows], acc
  void* product;        // [rows, width]
};

// Replaces gate_up and the weights by their gradients.
struct ExpertSwigluBackward {
  ElementType type;
  int64_t rows;
  int64_t width;
  SwigluForm form = {};
  const void* dproduct;  // [rows, width]
  void* gate_up;         // [rows, 2 width]
  void* weights;         // [rows], acc
};

// y += the row's weight * bias: of a product of rows that were weighed before it.
struct WeighedBias {
  ElementType type;
  int64_t rows;
  int64_t width;
  const void* weights;  // [rows], acc
  const void* bias;     // [width]
  void* y;              // [rows, width]
};

// The gradient of its weights: dweights += dy . bias. That of the bias is BiasGradient's.
struct WeighedBiasBackward {
  ElementType type;
  int64_t rows;
  int64_t width;
  const void* dy;    // [rows, width]
  const void* bias;  // [width]
  void* dweights;    // [rows], acc
};

}  // namespace meshwright::kernels

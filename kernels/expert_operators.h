// Defines the arguments of the fused operators of a mixture of experts. kernels/operators.h has the
// rules for all arguments.
//
// A slot is one of the top_k experts of a token; a token's slots are adjacent. Rows are slots
// sorted by expert.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/element.h"

namespace meshwright::kernels {

// The function by which a router turns logits into scores: a softmax over all experts, or a sigmoid
// of each.
enum class RouterScore : uint8_t { kSoftmax, kSigmoid };

// Selects each token's experts and computes their weights. The experts with the highest scores are
// selected; among equal scores the lowest expert comes first. If there are groups of adjacent
// experts, only experts of `top_groups` groups are selected: the groups with the largest sums of
// their `group_best` best scores. selection_bias is added to scores for selection only. A token's
// weights are the selected scores divided by their sum or, if top_k is 1, the score itself.
struct RouterForward {
  static constexpr int64_t kMostPicks = 32;
  static constexpr int64_t kMostGroups = 32;
  static constexpr int64_t kMostGroupBest = 2;

  ElementType type;
  int64_t rows;
  int64_t experts;
  int64_t top_k;       // at most kMostPicks
  int64_t groups;      // divides experts; at most kMostGroups
  int64_t top_groups;  // together these have at least top_k experts
  int64_t group_best;  // at most kMostGroupBest, and at most a group's experts
  RouterScore score;
  bool picks;                            // if false, `picked` already has the selected experts
  const void* selection_bias = nullptr;  // [experts], acc; null for no biases
  const void* logits;                    // [rows, experts]
  int32_t* picked;                       // [rows, top_k]
  void* weights;                         // [rows, top_k], acc
};

// A router's auxiliary losses, applied through its gradient. The balance loss is the sum of scale *
// slots * score over experts and tokens. Here `slots` is the number of slots of the token's
// sequence that go to the expert, and `score` is divided by the sum of the token's scores. The
// z-loss of each token is z_scale / 2 * log(sum over experts of exp(logit))^2.
struct RouterLosses {
  const void* slots = nullptr;  // [sequences, experts], acc; null for no balance loss
  double scale = 0.0;
  int64_t first_row = 0;  // row r belongs to sequence (first_row + r) / sequence_rows
  int64_t sequence_rows = 1;
  double z_scale = 0.0;  // 0 for no z-loss

  constexpr bool any() const { return slots != nullptr || z_scale != 0.0; }
};

// Computes the gradient of the logits from the gradient of the weights and from the router's
// losses.
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

// y[i] = x[index[i] / divisor], or 0 if the index is negative.
struct GatherRows {
  ElementType type;
  int64_t rows;  // rows of y
  int64_t width;
  int64_t divisor;
  const int32_t* index;  // [rows]
  const void* x;         // [.., width]
  void* y;               // [rows, width]
};

// y[index[i]] = x[i]. Rows of y that are not in `index` are unchanged.
struct ScatterRows {
  ElementType type;
  int64_t rows;  // rows of x
  int64_t width;
  const int32_t* index;  // [rows], all distinct
  const void* x;         // [rows, width]
  void* y;               // [.., width]
};

// y[i] = sum over j of x[index[i, j]], skipping negative indices.
struct SumRows {
  ElementType type;
  int64_t rows;  // rows of y
  int64_t terms;
  int64_t width;
  const int32_t* index;  // [rows, terms]
  const void* x;         // [.., width]
  void* y;               // [rows, width]
};

// Modifies SwiGLU. The gate is clamped to at most `limit`, and its sigmoid's argument is multiplied
// by `slope`. Up is clamped to [-limit, limit], and `offset` is added to it. Values that were
// clamped have no gradient.
struct SwigluForm {
  double limit = std::numeric_limits<double>::infinity();
  double slope = 1.0;
  double offset = 0.0;
};

// Returns GPT-OSS's form (modeling_gpt_oss.py in transformers).
constexpr SwigluForm ClampedSwiglu(double limit) {
  return {.limit = limit, .slope = 1.702, .offset = 1.0};
}

// product = gate * sigmoid(slope * gate) * (up + offset) * the row's weight, where the form clamps
// gate and up first. A row of gate_up is gate, then up.
struct ExpertSwigluForward {
  ElementType type;
  int64_t rows;
  int64_t width;  // width of gate, of up and of the product
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

// y += the row's weight * bias; used after a product of weighted rows.
struct WeighedBias {
  ElementType type;
  int64_t rows;
  int64_t width;
  const void* weights;  // [rows], acc
  const void* bias;     // [width]
  void* y;              // [rows, width]
};

// The gradient of WeighedBias by the weights: dweights += dy . bias. BiasGradient computes the
// gradient of the bias.
struct WeighedBiasBackward {
  ElementType type;
  int64_t rows;
  int64_t width;
  const void* dy;    // [rows, width]
  const void* bias;  // [width]
  void* dweights;    // [rows], acc
};

}  // namespace meshwright::kernels

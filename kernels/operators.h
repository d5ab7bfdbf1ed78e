// The fused operators' arguments, shared by every implementation.
//
// Pointers address dense row-major arrays of the element type `type` unless a comment says
// otherwise; statistics, gradients of weights and optimizer states are fp32. Sizes count elements.
// Arrays may only overlap where a comment says so.
#pragma once

#include <cstdint>

#include "kernels/element.h"

namespace meshwright::kernels {

// y = x * rstd * weight, rstd = 1 / sqrt(mean(x^2) + epsilon) per row.
struct RmsNormForward {
  ElementType type;
  int64_t rows;
  int64_t width;
  float epsilon;
  const void* x;       // [rows, width]
  const void* weight;  // [width]
  void* y;             // [rows, width]
  float* rstd;         // [rows]
};

// dx = residual_gradient + gradient through the norm; weight_gradient is added to.
struct RmsNormBackward {
  ElementType type;
  int64_t rows;
  int64_t width;
  const void* dy;                 // [rows, width]
  const void* x;                  // [rows, width]
  const void* weight;             // [width]
  const float* rstd;              // [rows]
  const void* residual_gradient;  // [rows, width], or null for none
  void* dx;                       // [rows, width]; may be dy
  float* weight_gradient;         // [width], or null where it isn't wanted
};

// product = silu(gate) * up. A row of gate_up is gate, then up.
struct SwigluForward {
  ElementType type;
  int64_t rows;
  int64_t width;        // of gate, of up and of the product
  const void* gate_up;  // [rows, 2 width]
  void* product;        // [rows, width]
};

// Replaces gate_up by its gradient.
struct SwigluBackward {
  ElementType type;
  int64_t rows;
  int64_t width;
  const void* dproduct;  // [rows, width]
  void* gate_up;         // [rows, 2 width]
};

// Rotary embedding: the pair (i, i + head_dim / 2) of every head is turned by the angle of its
// row's position, row % seq_len. `inverse` turns back, which is the gradient.
struct Rope {
  ElementType type;
  int64_t rows;
  int64_t seq_len;
  int64_t heads;
  int64_t head_dim;
  bool inverse;
  const float* cosine;  // [seq_len, head_dim / 2]
  const float* sine;    // [seq_len, head_dim / 2]
  const void* x;        // [rows, heads, head_dim], rows x_stride and heads x_head_stride apart
  int64_t x_stride;
  int64_t x_head_stride;
  void* y;  // likewise; may be x with equal strides
  int64_t y_stride;
  int64_t y_head_stride;
};

// One rank's share of a softmax cross entropy over a vocabulary that is divided over ranks:
// columns [vocab_begin, vocab_begin + width). local_sum is relative to local_max; target_logit is 0
// where another rank holds the target.
struct CrossEntropyStatistics {
  ElementType type;
  int64_t rows;
  int64_t width;
  int64_t vocab_begin;
  const void* logits;      // [rows, width]
  const int32_t* targets;  // [rows], in the whole vocabulary
  float* local_max;        // [rows]
  float* local_sum;        // [rows], sum of exp(logit - local_max)
  float* target_logit;     // [rows]
};

// local_sum *= exp(local_max - global_max), so that ranks can add their sums.
struct CrossEntropyRescale {
  int64_t rows;
  const float* local_max;
  const float* global_max;
  float* local_sum;
};

// log_sum_exp = log(sum) + max, and *loss_sum += sum over rows of (log_sum_exp - target_logit).
struct CrossEntropyLoss {
  int64_t rows;
  const float* sum;           // [rows], over all ranks
  const float* target_logit;  // [rows], of whichever rank holds it
  float* max_to_log_sum_exp;  // [rows], global max in, log-sum-exp out
  double* loss_sum;           // [1]
};

// logits = (softmax - one_hot(target)) * scale, in place.
struct CrossEntropyBackward {
  ElementType type;
  int64_t rows;
  int64_t width;
  int64_t vocab_begin;
  float scale;
  const int32_t* targets;    // [rows]
  const float* log_sum_exp;  // [rows]
  void* logits;              // [rows, width]
};

// y[r] = table[tokens[r] - vocab_begin], zero where another rank holds the row.
struct EmbeddingForward {
  ElementType type;
  int64_t rows;
  int64_t width;
  int64_t vocab_begin;
  int64_t vocab_count;
  const int32_t* tokens;  // [rows]
  const void* table;      // [vocab_count, width]
  void* y;                // [rows, width]
};

// table_gradient[tokens[r] - vocab_begin] += dy[r].
struct EmbeddingBackward {
  ElementType type;
  int64_t rows;
  int64_t width;
  int64_t vocab_begin;
  int64_t vocab_count;
  const int32_t* tokens;  // [rows]
  const void* dy;         // [rows, width]
  float* table_gradient;  // [vocab_count, width]
};

// target += source, dense.
struct Accumulate {
  ElementType type;
  int64_t count;
  const void* source;
  float* target;
};

// Decoupled weight decay (arXiv 1711.05101), one pass over flat buffers. `step` counts from 1.
// With bf16 weights `master` holds them in fp32; with fp32 weights it is null.
struct AdamW {
  ElementType type;
  int64_t count;
  float learning_rate;
  float beta1;
  float beta2;
  float epsilon;
  float weight_decay;
  int64_t step;
  const float* gradient;
  float* first_moment;
  float* second_moment;
  float* master;
  void* weights;
};

}  // namespace meshwright::kernels

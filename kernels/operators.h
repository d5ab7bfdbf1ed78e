// Defines the arguments of the fused operators, which all implementations share.
//
// Pointers address dense row-major arrays of the element type `type` unless a comment says
// otherwise. "acc" is the accumulator type of statistics, gradients of weights and optimizer
// states: fp64 if `type` is fp64, else fp32. Sizes count elements; rows, widths and heads are below
// 2^30, but their products may be larger. Arrays may overlap only if a comment says so.
#pragma once

#include <cstdint>

#include "kernels/element.h"
#include "kernels/expert_operators.h"
#include "kernels/quantise_operators.h"

namespace meshwright::kernels {

// y = s * rstd * weight, rstd = 1 / sqrt(mean(s^2) + epsilon) per row, where s is x, or x + branch
// (rounded to the element type) if there is a branch.
struct RmsNormForward {
  ElementType type;
  int64_t rows;
  int64_t width;
  double epsilon;
  const void* x;       // [rows, width]
  const void* branch;  // [rows, width], or null for none
  void* sum;           // [rows, width], x + branch; may be x or branch. Null without a branch
  const void* weight;  // [width]
  void* y;             // [rows, width]
  void* rstd;          // [rows], acc
};

// dx = residual_gradient + gradient through the norm. Adds to weight_gradient.
struct RmsNormBackward {
  ElementType type;
  int64_t rows;
  int64_t width;
  const void* dy;                 // [rows, width]
  const void* x;                  // [rows, width]
  const void* weight;             // [width]
  const void* rstd;               // [rows], acc
  const void* residual_gradient;  // [rows, width], or null for none
  void* dx;                       // [rows, width]; may be dy
  void* weight_gradient;          // [width], acc, or null if it isn't wanted
};

// y = (s - mean) * rstd * weight + bias, rstd = 1 / sqrt(mean((s - mean)^2) + epsilon) per row,
// with s as in RmsNormForward.
struct LayerNormForward {
  ElementType type;
  int64_t rows;
  int64_t width;
  double epsilon;
  const void* x;       // [rows, width]
  const void* branch;  // [rows, width], or null for none
  void* sum;           // [rows, width], x + branch; may be x or branch. Null without a branch
  const void* weight;  // [width], or null for ones
  const void* bias;    // [width], or null for zeros
  void* y;             // [rows, width]
  void* statistics;    // [2, rows], acc: rstd, then means
};

// dx = residual_gradient + gradient through the norm. Adds to weight_gradient and bias_gradient.
struct LayerNormBackward {
  ElementType type;
  int64_t rows;
  int64_t width;
  const void* dy;                 // [rows, width]
  const void* x;                  // [rows, width]
  const void* weight;             // [width], or null for ones
  const void* statistics;         // [2, rows], acc
  const void* residual_gradient;  // [rows, width], or null for none
  void* dx;                       // [rows, width]; may be dy
  void* weight_gradient;          // [width], acc, or null if it isn't wanted
  void* bias_gradient;            // [width], acc, or null if it isn't wanted
};

// RMSNorm of every head, with one weight for all heads. Rows of x are x_stride elements apart, and
// heads of a row are x_head_stride elements apart; y has its own strides.
struct HeadNormForward {
  ElementType type;
  int64_t rows;
  int64_t heads;
  int64_t head_dim;
  double epsilon;
  const void* x;  // [rows, heads, head_dim]
  int64_t x_stride;
  int64_t x_head_stride;
  const void* weight;  // [head_dim]
  void* y;             // [rows, heads, head_dim]; may be x with equal strides
  int64_t y_stride;
  int64_t y_head_stride;
  void* rstd;  // [rows, heads], acc
};

// dx = gradient through the norm. Adds to weight_gradient.
struct HeadNormBackward {
  ElementType type;
  int64_t rows;
  int64_t heads;
  int64_t head_dim;
  const void* dy;  // [rows, heads, head_dim]
  int64_t dy_stride;
  int64_t dy_head_stride;
  const void* x;  // [rows, heads, head_dim]
  int64_t x_stride;
  int64_t x_head_stride;
  const void* weight;  // [head_dim]
  const void* rstd;    // [rows, heads], acc
  void* dx;            // [rows, heads, head_dim]; may be dy or x with equal strides
  int64_t dx_stride;
  int64_t dx_head_stride;
  void* weight_gradient;  // [head_dim], acc
};

// product = silu(gate) * up. A row of gate_up is gate, then up.
struct SwigluForward {
  ElementType type;
  int64_t rows;
  int64_t width;        // width of gate, of up and of the product
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

// The function between the matrices of an FFN without a gate.
enum class Activation : uint8_t {
  kGelu,  // x times the normal distribution function at x, not its approximation by tanh
  kRelu
};

// product = activation(up).
struct ActivationForward {
  ElementType type;
  Activation activation;
  int64_t count;
  const void* up;  // [count]
  void* product;   // [count]
};

// gradient = the gradient of up: dproduct * the derivative of the activation.
struct ActivationBackward {
  ElementType type;
  Activation activation;
  int64_t count;
  const void* dproduct;  // [count]
  const void* up;        // [count]; for ReLU the product also works
  void* gradient;        // [count]; may be dproduct or up
};

// bias_gradient += sum of the rows of dy, each times its weight if there are weights.
struct BiasGradient {
  ElementType type;
  int64_t rows;
  int64_t width;
  const void* dy;                 // [rows, width]
  const void* weights = nullptr;  // [rows], acc, or null for none
  void* bias_gradient;            // [width], acc
};

// Rotary embedding: rotates the pair (i, i + head_dim / 2) of every head by the i-th angle of the
// row's position, which is row % seq_len. `inverse` rotates back, as the gradient needs.
struct Rope {
  ElementType type;
  int64_t rows;
  int64_t seq_len;
  int64_t heads;
  int64_t head_dim;
  bool inverse;
  const void* cosine;  // [seq_len, head_dim / 2], acc
  const void* sine;    // [seq_len, head_dim / 2], acc
  const void* x;       // [rows, heads, head_dim], rows x_stride and heads x_head_stride apart
  int64_t x_stride;
  int64_t x_head_stride;
  void* y;  // [rows, heads, head_dim], with strides of its own; may be x with equal strides
  int64_t y_stride;
  int64_t y_head_stride;
};

// The strides of a tensor with dimensions for batch, query and head: the distances in elements
// between consecutive batches, queries and heads.
struct HeadStrides {
  int64_t batch;
  int64_t query;
  int64_t head;
};

// Returns the offset in elements. Static, as explained in kernels/element.h.
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline int64_t OffsetOf(const HeadStrides& strides,
                                                                       int64_t batch, int64_t query,
                                                                       int64_t head) {
  return batch * strides.batch + query * strides.query + head * strides.head;
}

// Merges the result of attention to further keys into `output` and `log_sum_exp`, in place. Each of
// the two outputs is weighted by the share of its keys in the softmax. A log-sum-exp of -inf stands
// for no keys; the output is then not read.
struct AttentionMerge {
  ElementType type;  // element type of part_output
  int64_t batch;
  int64_t queries;
  int64_t heads;
  int64_t head_dim;
  void* output;  // [batch, queries, heads, head_dim], acc
  HeadStrides output_strides;
  void* log_sum_exp;  // of each query and head, acc
  HeadStrides log_sum_exp_strides;
  const void* part_output;  // output for the further keys; shaped like `output`, of type `type`
  HeadStrides part_output_strides;
  const void* part_log_sum_exp;  // acc
  HeadStrides part_log_sum_exp_strides;
};

// Adds a score per head, its sink, to the softmax of every query, in place (GPT-OSS). The sink acts
// as a key whose value is 0: the log-sum-exp then covers the keys and the sink, and the output is
// scaled by the share of the keys.
struct AttentionSink {
  ElementType type;
  int64_t batch;
  int64_t queries;
  int64_t heads;
  int64_t head_dim;
  const void* sinks;  // [heads], sink_stride apart
  int64_t sink_stride;
  void* output;  // [batch, queries, heads, head_dim]
  HeadStrides output_strides;
  void* log_sum_exp;  // of each query and head, acc
  HeadStrides log_sum_exp_strides;
};

// sink_gradient -= sum over queries of exp(sink - log_sum_exp) * (output . doutput), with output
// and log_sum_exp as AttentionSink left them.
struct AttentionSinkGradient {
  ElementType type;
  int64_t batch;
  int64_t queries;
  int64_t heads;
  int64_t head_dim;
  const void* sinks;  // [heads], sink_stride apart, like sink_gradient
  int64_t sink_stride;
  const void* output;  // [batch, queries, heads, head_dim], like doutput
  HeadStrides output_strides;
  const void* doutput;
  HeadStrides doutput_strides;
  const void* log_sum_exp;  // of each query and head, acc
  HeadStrides log_sum_exp_strides;
  void* sink_gradient;  // acc
};

// One rank's share of a softmax cross entropy over a vocabulary that is divided over ranks. The
// rank has columns [vocab_begin, vocab_begin + width). target_logit is 0 if another rank holds the
// target.
struct CrossEntropyStatistics {
  ElementType type;
  int64_t rows;
  int64_t width;
  int64_t vocab_begin;
  const void* logits;      // [rows, width]
  const int32_t* targets;  // [rows], in the whole vocabulary
  void* local_max;         // [rows], acc
  void* local_sum;         // [rows], acc: sum of exp(logit - local_max)
  void* target_logit;      // [rows], acc
};

// local_sum *= exp(local_max - global_max), so that ranks can add their sums.
struct CrossEntropyRescale {
  ElementType type;  // element type of the logits
  int64_t rows;
  const void* local_max;   // [rows], acc
  const void* global_max;  // [rows], acc
  void* local_sum;         // [rows], acc
};

// log_sum_exp = log(sum) + max, and *loss_sum += sum over rows of (log_sum_exp - target_logit).
struct CrossEntropyLoss {
  ElementType type;  // element type of the logits
  int64_t rows;
  const void* sum;           // [rows], acc, over all ranks
  const void* target_logit;  // [rows], acc, from the rank that holds it
  void* max_to_log_sum_exp;  // [rows], acc: global max in, log-sum-exp out
  double* loss_sum;          // [1]
};

// logits = (softmax - one_hot(target)) * scale, in place.
struct CrossEntropyBackward {
  ElementType type;
  int64_t rows;
  int64_t width;
  int64_t vocab_begin;
  double scale;
  const int32_t* targets;   // [rows]
  const void* log_sum_exp;  // [rows], acc
  void* logits;             // [rows, width]
};

// y[r] = table[tokens[r] - vocab_begin], or zeros if another rank holds that row of the table.
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

// table_gradient[tokens[r] - vocab_begin] += dy[r]. The order of additions depends only on the
// sizes and tokens, so that every run gives the same bits.
struct EmbeddingBackward {
  ElementType type;
  int64_t rows;
  int64_t width;
  int64_t vocab_begin;
  int64_t vocab_count;
  const int32_t* tokens;  // [rows]
  const void* dy;         // [rows, width]
  void* table_gradient;   // [vocab_count, width], acc
};

// target += source, element by element.
struct Accumulate {
  ElementType type;  // element type of the source
  int64_t count;
  const void* source;
  void* target;  // acc
};

// *sum += sum of x^2, in fp64. The order of additions depends only on `count`, so that the bits are
// the same in every run and for every number of threads. A norm is the root of the sum over all
// buffers.
struct SumOfSquares {
  static constexpr int64_t kPartialSums = 1024;

  ElementType type;
  int64_t count;
  const void* x;
  double* partial_sums;  // [kPartialSums], scratch
  double* sum;           // [1]
};

// values[r, c] = deviation * z, where z is element begin + r * stride + c of a tensor of standard
// normal numbers, a pure function of key and element.
struct RandomNormal {
  uint64_t key;
  int64_t begin;
  int64_t rows;
  int64_t columns;
  int64_t stride;
  float deviation;
  float* values;  // [rows, columns]
};

// AdamW with decoupled weight decay (arXiv 1711.05101), one pass over flat buffers. `step` counts
// from 1. With bf16 weights `master` holds them in fp32; otherwise it is null.
struct AdamW {
  ElementType type;
  int64_t count;
  double learning_rate;
  double beta1;
  double beta2;
  double epsilon;
  double weight_decay;
  int64_t step;
  const void* gradient;  // acc
  void* first_moment;    // acc
  void* second_moment;   // acc
  void* master;          // acc
  void* weights;
};

}  // namespace meshwright::kernels

// Computes the FLOPs and the bytes of device-memory traffic of a pass of an operator, for one
// micro-batch on one rank.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"

namespace meshwright::planner {

struct PassWork {
  // FLOPs of matrix products. Attention counts only the (query, key) pairs that its mask allows.
  double flops = 0.0;
  double bytes = 0.0;  // bytes read from and written to device memory

  PassWork& operator+=(const PassWork& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

// Returns the work of an (m x k) times (k x n) product, where n is the number of output features.
// Each operand is read or written once.
PassWork ProductWork(const MatmulShape& product, int64_t element_bytes);

// Returns the FLOPs of attention's forward pass: two products over the (query, key) pairs that the
// mask allows. Without a sliding window these are half of all pairs.
double CausalAttentionFlops(const AttentionShape& shape);

// Returns the FLOPs of a pass of a kCore operator, without what its backward recomputes.
double CoreFlops(const CoreShape& core, PassKind pass);

// Memory traffic of the score matrix in the backward pass, divided by the traffic in the forward
// pass. Backward moves more, because it also reads saved intermediates.
inline constexpr double kScoreBackwardRatio = 1.5;

// Returns the product that a pass of a kMatmul operator computes: y = x W^T in forward, dx = dy W
// for the input gradient, dW = dy^T x for the weight gradient.
MatmulShape ProductOf(const Operator& op, PassKind pass);

// Returns the bytes that a pass reads and writes in device memory, without the operands and results
// of its matrix products.
double StreamBytes(const Operator& op, PassKind pass);

// Return the work of one pass of an operator or of a list, without recompute. Attention's forward
// reads queries, keys and values and writes its output. Its backward moves twice as many bytes. If
// the kernel writes the score matrix to memory, both passes move it too.
PassWork WorkOf(const Operator& op, PassKind pass);
PassWork WorkOf(const OperatorList& operators, PassKind pass);

}  // namespace meshwright::planner

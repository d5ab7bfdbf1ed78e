// Computes the FLOPs and the bytes of device-memory traffic of a pass of an operator, for one
// micro-batch on one rank.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"

namespace meshwright::planner {

struct PassWork {
  // FLOPs of matrix products. Attention counts only the pairs of a query and a key that it sees.
  double flops = 0.0;
  double bytes = 0.0;  // read and written

  PassWork& operator+=(const PassWork& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

// Returns the work of an (m x k) times (k x n) product, n being its outputs. Each operand is read
// or written once.
PassWork ProductWork(const MatmulShape& product, int64_t element_bytes);

// Returns the FLOPs of attention's forward pass: two products over the pairs of a query and a key
// that it sees, which are half of all pairs if there is no window.
double CausalAttentionFlops(const AttentionShape& shape);

// Returns the FLOPs of a pass of a kCore operator, without what its backward recomputes.
double CoreFlops(const CoreShape& core, PassKind pass);

// The ratio of the traffic of a backward pass over a score matrix to that of the forward pass:
// backward also reads the saved intermediates.
inline constexpr double kScoreBackwardRatio = 1.5;

// Returns the product that a pass of a kMatmul operator computes: y = x W^T in forward, dx = dy W
// for the input gradient, dW = dy^T x for the weight gradient.
MatmulShape ProductOf(const Operator& op, PassKind pass);

// Returns the bytes that a pass reads and writes in device memory in addition to its products.
double StreamBytes(const Operator& op, PassKind pass);

// Return the work of one pass of an operator or of a list, without recompute. Attention's forward
// reads queries, keys and values and writes its output. Its backward moves twice as many bytes.
// Both passes also move the score matrix if it is written out.
PassWork WorkOf(const Operator& op, PassKind pass);
PassWork WorkOf(const OperatorList& operators, PassKind pass);

}  // namespace meshwright::planner

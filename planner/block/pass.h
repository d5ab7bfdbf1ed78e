// Computes the FLOPs and the bytes of device-memory traffic of a pass of an operator, for one
// micro-batch on one rank.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"

namespace meshwright::planner {

struct PassWork {
  // FLOPs of matrix products. Causal attention counts the half of them that its result needs.
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

// Returns the FLOPs of attention's forward pass: two products over half of all query-key pairs.
double CausalAttentionFlops(const AttentionShape& shape);

// Traffic of a backward pass over a score matrix, over that of the forward pass: backward also
// reads the saved intermediates.
inline constexpr double kScoreBackwardRatio = 1.5;

// Returns the product that a pass of a kMatmul operator computes: y = x W^T in forward, dx = dy W
// for the input gradient, dW = dy^T x for the weight gradient.
MatmulShape ProductOf(const Operator& op, PassKind pass);

// Returns the bytes that a pass reads and writes in device memory in addition to its products.
double StreamBytes(const Operator& op, PassKind pass);

// Returns the work of one pass, without what recompute runs again. Attention's forward reads
// queries, keys and values and writes its output; its backward moves twice that; both move the
// score matrix where it is written out.
PassWork WorkOf(const Operator& op, PassKind pass);
PassWork WorkOf(const OperatorList& operators, PassKind pass);

}  // namespace meshwright::planner

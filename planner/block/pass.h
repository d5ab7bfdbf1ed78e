// Arithmetic and device-memory traffic of operators' passes for one micro-batch on one rank.
#pragma once

#include <cstdint>

#include "planner/block/operator_list.h"

namespace meshwright::planner {

struct PassWork {
  // Of matrix products; of causal attention the half that its result needs.
  double flops = 0.0;
  double bytes = 0.0;  // read and written

  PassWork& operator+=(const PassWork& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

// Of an (m x k) times (k x n) product, n being its outputs; each operand moves once.
PassWork ProductWork(const MatmulShape& product, int64_t element_bytes);

// Of a forward pass: two products over half of all pairs of queries and keys.
double CausalAttentionFlops(const AttentionShape& shape);

// Backward passes over a score matrix read the saved intermediates again.
inline constexpr double kScoreBackwardRatio = 1.5;

// The product that a pass of a kMatmul operator computes: y = x W^T, dx = dy W or dW = dy^T x.
MatmulShape ProductOf(const Operator& op, PassKind pass);

// What a pass streams through device memory beside its products. Bytes.
double StreamBytes(const Operator& op, PassKind pass);

// Of one pass without recompute. Attention reads queries, keys and values and writes as much again
// for its output, in all twice that backward, and moves the traffic of a score matrix.
PassWork WorkOf(const Operator& op, PassKind pass);
PassWork WorkOf(const OperatorList& operators, PassKind pass);

}  // namespace meshwright::planner

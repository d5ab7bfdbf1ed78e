#include "executor/worker/state/newton_schulz.h"

#include <algorithm>
#include <utility>

#include "planner/worker_memory/worker_matmul.h"

namespace meshwright::worker {
namespace {

constexpr double kA = 3.4445;
constexpr double kB = -4.7750;
constexpr double kC = 2.0315;
constexpr double kLeastNorm = 1e-7;

// sum = beta sum + alpha left right, in pieces where a product needs scratch memory of its own
// (planner/worker_memory/worker_matmul.h).
void AddProduct(const at::Tensor& sum, const at::Tensor& left, const at::Tensor& right, double beta,
                double alpha) {
  const int64_t rows = sum.size(0);
  const bool in_pieces = sum.is_cpu() && sum.scalar_type() == at::kBFloat16;
  const int64_t piece = in_pieces ? planner::MatmulPieceRows(rows, sum.size(1)) : rows;
  for (int64_t row = 0; row < rows; row += piece) {
    const int64_t count = std::min(piece, rows - row);
    sum.narrow(0, row, count).addmm_(left.narrow(0, row, count), right, beta, alpha);
  }
}

}  // namespace

at::Tensor Orthogonalise(const at::Tensor& matrix, double norm, int32_t iterations,
                         const NewtonSchulzWorkspace& workspace) {
  const auto& [other, gram, polynomial] = workspace;
  at::Tensor x = matrix;
  at::Tensor y = other;
  const bool wide = x.size(0) <= x.size(1);
  // The first iteration scales its input, which saves a pass over the matrix.
  double scale = 1.0 / (norm + kLeastNorm);
  for (int32_t i = 0; i < iterations; ++i) {
    AddProduct(gram, wide ? x : x.t(), wide ? x.t() : x, /*beta=*/0.0, /*alpha=*/scale * scale);
    polynomial.copy_(gram);
    AddProduct(polynomial, gram, gram, kB, kC);
    y.copy_(x);
    AddProduct(y, wide ? polynomial : x, wide ? x : polynomial, kA * scale, scale);
    std::swap(x, y);
    scale = 1.0;
  }
  return x;
}

}  // namespace meshwright::worker

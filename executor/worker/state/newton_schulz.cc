#include "executor/worker/state/newton_schulz.h"

#include <utility>

namespace meshwright::worker {
namespace {

constexpr double kA = 3.4445;
constexpr double kB = -4.7750;
constexpr double kC = 2.0315;
constexpr double kLeastNorm = 1e-7;

}  // namespace

at::Tensor Orthogonalise(const at::Tensor& matrix, double norm, int32_t iterations,
                         const NewtonSchulzWorkspace& workspace) {
  const auto& [other, gram, polynomial] = workspace;
  at::Tensor x = matrix;
  at::Tensor y = other;
  const bool wide = x.size(0) <= x.size(1);
  // The first iteration scales what it reads, which costs no pass over the matrix.
  double scale = 1.0 / (norm + kLeastNorm);
  for (int32_t i = 0; i < iterations; ++i) {
    gram.addmm_(wide ? x : x.t(), wide ? x.t() : x, /*beta=*/0.0, /*alpha=*/scale * scale);
    polynomial.copy_(gram);
    polynomial.addmm_(gram, gram, kB, kC);
    y.copy_(x);
    y.addmm_(wide ? polynomial : x, wide ? x : polynomial, kA * scale, scale);
    std::swap(x, y);
    scale = 1.0;
  }
  return x;
}

}  // namespace meshwright::worker

#include "kernels/random_normal.h"

#include <algorithm>

namespace meshwright::kernels {
namespace {

// Least elements per thread that are worth waking it.
constexpr int64_t kGrainElements = int64_t{1} << 14;

// Computes each pair once where the row has both of its elements.
void FillRow(const RandomNormal& a, int64_t row) {
  float* out = a.values + row * a.columns;
  const int64_t begin = a.begin + row * a.stride;
  int64_t i = 0;
  if (begin % 2 != 0 && a.columns > 0) out[i++] = a.deviation * NormalAt(a.key, begin);
  for (; i + 1 < a.columns; i += 2) {
    const NormalPair pair = NormalPairAt(a.key, (begin + i) / 2);
    out[i] = a.deviation * pair.first;
    out[i + 1] = a.deviation * pair.second;
  }
  if (i < a.columns) out[i] = a.deviation * NormalAt(a.key, begin + i);
}

}  // namespace

void FillNormal(const RandomNormal& args, const Parallel& parallel) {
  const int64_t grain = std::max<int64_t>(1, kGrainElements / std::max<int64_t>(args.columns, 1));
  const auto rows = [](void* state, int64_t begin, int64_t end) {
    const RandomNormal& a = *static_cast<const RandomNormal*>(state);
    for (int64_t row = begin; row < end; ++row) FillRow(a, row);
  };
  RandomNormal state = args;
  parallel.run(args.rows, grain, rows, &state);
}

}  // namespace meshwright::kernels

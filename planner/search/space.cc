#include "planner/search/space.h"

#include <algorithm>

namespace meshwright {
namespace {

constexpr int64_t kMaxMicroBatch = 64;
constexpr int64_t kModes = 3 * 2 * 4;  // recompute, sequence parallel, ZeRO

std::vector<int32_t> DivisorsOf(int64_t value) {
  std::vector<int32_t> divisors;
  for (int64_t d = 1; d * d <= value; ++d) {
    if (value % d != 0) continue;
    divisors.push_back(static_cast<int32_t>(d));
    if (d * d != value) divisors.push_back(static_cast<int32_t>(value / d));
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

}  // namespace

SearchSpace::SearchSpace(const ModelSpec& model, int64_t devices, int64_t global_batch)
    : chunks_(DivisorsOf(model.layers())) {
  const std::vector<int32_t> divisors = DivisorsOf(devices);
  for (const int32_t tp : divisors) {
    for (const int32_t cp : divisors) {
      if (devices % (int64_t{tp} * cp) != 0) continue;
      for (const int32_t pp : divisors) {
        const int64_t ranks = int64_t{tp} * cp * pp;
        if (devices % ranks != 0) continue;
        Layout mesh;
        mesh.tp = tp;
        mesh.cp = cp;
        mesh.pp = pp;
        mesh.dp = static_cast<int32_t>(devices / ranks);
        meshes_.push_back(mesh);
      }
    }
  }
  for (int64_t size = 1; size <= std::min(kMaxMicroBatch, global_batch); size *= 2) {
    micro_batches_.push_back(static_cast<int32_t>(size));
  }
}

int64_t SearchSpace::size() const {
  return static_cast<int64_t>(meshes_.size() * micro_batches_.size() * chunks_.size()) * kModes;
}

}  // namespace meshwright

#include "executor/worker/model/band_mask.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <limits>

namespace meshwright::worker {
namespace {

template <typename T>
void Fill(const planner::AttentionTile& tile, const at::Tensor& mask) {
  const int64_t keys = tile.keys.count;
  T* out = mask.mutable_data_ptr<T>();
  std::fill_n(out, mask.numel(), -std::numeric_limits<T>::infinity());
  for (int64_t query = 0; query < tile.queries.count; ++query, out += keys) {
    const int64_t newest = query + tile.lead;
    const int64_t begin = std::max<int64_t>(newest - tile.window + 1, 0);
    const int64_t end = std::min(newest + 1, keys);
    std::fill(out + begin, out + end, T{0});
  }
}

}  // namespace

BandMask::BandMask(const at::Tensor& like)
    : options_(like.options().dtype(at::toOpMathType(like.scalar_type()))) {}

KeySight BandMask::Of(const planner::AttentionTile& tile) {
  if (!tile.masked()) return {.causal = tile.causal};
  if (!options_.device().is_cpu()) return {.band = tile.band()};
  if (!mask_.defined() || !of_.LooksLike(tile)) {
    mask_.reset();
    mask_ = at::empty({tile.queries.count, tile.keys.count}, options_);
    of_ = tile;
    mask_.scalar_type() == at::kDouble ? Fill<double>(tile, mask_) : Fill<float>(tile, mask_);
  }
  return {.mask = mask_};
}

}  // namespace meshwright::worker

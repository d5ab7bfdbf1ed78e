// Keeps a row or head in the registers of its lanes, so that it is read once for both its sums and
// its result.
#pragma once

#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {

// Loads a pack of a weight or bias vector into `values`. If the vector is null, all values are
// `none`.
template <int kPack, typename T>
__device__ void VectorValues(const void* vector, int64_t pack, Accumulator<T> none,
                             Accumulator<T> (&values)[kPack]) {
  if (vector == nullptr) {
    for (int k = 0; k < kPack; ++k) values[k] = none;
    return;
  }
  const auto loaded = Load<kPack>(static_cast<const T*>(vector), pack);
  for (int k = 0; k < kPack; ++k) values[k] = Widen(loaded.values[k]);
}

// A lane's part of a row: packs Lane(), Lane() + Lanes(), ... of Packs(). The parameter `Lanes` of
// the functions provides these three numbers.
template <typename T, int kPack, int kLanePacks>
struct LanePart {
  Pack<T, kPack> packs[kLanePacks];

  // Calls body(index in the lane, index in the row) for each of the lane's packs.
  template <typename Lanes, typename Body>
  __device__ static void ForEach(const Lanes& lanes, const Body& body) {
    for (int p = 0; p < kLanePacks; ++p) {
      const int at = lanes.Lane() + p * lanes.Lanes();
      if (at < lanes.Packs()) body(p, at);
    }
  }
  // Loads the lane's part of a row. The part is zero where the lane has no packs, or if the row
  // does not exist.
  template <typename Lanes>
  __device__ static LanePart Of(const Lanes& lanes, const T* row, bool exists) {
    LanePart part = {};
    if (!exists) return part;
    ForEach(lanes, [&](int p, int at) { part.packs[p] = Load<kPack>(row, at); });
    return part;
  }
  template <typename Lanes>
  __device__ void StoreTo(const Lanes& lanes, T* row) const {
    ForEach(lanes, [&](int p, int at) { Store<kPack>(packs[p], row, at); });
  }
};

}  // namespace meshwright::kernels::cuda

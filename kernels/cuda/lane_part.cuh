// A row or a head in the registers of the lanes that have it, so that what is read once serves both
// its sums and its result.
#pragma once

#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {

// What the weight or the bias has for a pack of columns; `none` without one.
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

// What a lane has of a row: pack Lane() and every Lanes()-th behind it, of Packs(). `Lanes` says
// these numbers.
template <typename T, int kPack, int kLanePacks>
struct LanePart {
  Pack<T, kPack> packs[kLanePacks];

  // Calls body(pack of the lane, pack of the row) for those that there are.
  template <typename Lanes, typename Body>
  __device__ static void ForEach(const Lanes& lanes, const Body& body) {
    for (int p = 0; p < kLanePacks; ++p) {
      const int at = lanes.Lane() + p * lanes.Lanes();
      if (at < lanes.Packs()) body(p, at);
    }
  }
  // Zeros where the lane has no part of the row.
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

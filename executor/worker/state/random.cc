#include "executor/worker/state/random.h"

#include <cmath>

namespace meshwright::worker {
namespace {

// The finaliser of splitmix64: a bijection whose outputs pass as random for counter inputs.
uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

struct NormalPair {
  float first;
  float second;
};

// Elements 2 i and 2 i + 1, by Box and Muller's transform.
NormalPair PairAt(uint64_t key, int64_t i) {
  const uint64_t bits = Mix(key ^ Mix(static_cast<uint64_t>(i)));
  constexpr float kUnit = 1.0f / 16777216.0f;
  // In (0, 1], so that the logarithm is finite.
  const float radius_uniform = (static_cast<float>(bits >> 40) + 1.0f) * kUnit;
  const float angle_uniform = static_cast<float>((bits >> 8) & 0xffffffu) * kUnit;
  const float radius = std::sqrt(-2.0f * std::log(radius_uniform));
  const float angle = 6.28318530717958648f * angle_uniform;
  return {.first = radius * std::cos(angle), .second = radius * std::sin(angle)};
}

}  // namespace

uint64_t RandomKey(uint64_t seed, std::string_view tensor_name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : tensor_name) {
    hash = (hash ^ static_cast<uint64_t>(static_cast<unsigned char>(c))) * 0x100000001b3u;
  }
  return Mix(Mix(seed) ^ hash);
}

void FillNormal(uint64_t key, int64_t begin, int64_t count, float deviation, float* out) {
  int64_t i = 0;
  if (begin % 2 != 0 && count > 0) out[i++] = deviation * PairAt(key, begin / 2).second;
  for (; i + 1 < count; i += 2) {
    const NormalPair pair = PairAt(key, (begin + i) / 2);
    out[i] = deviation * pair.first;
    out[i + 1] = deviation * pair.second;
  }
  if (i < count) out[i] = deviation * PairAt(key, (begin + i) / 2).first;
}

void FillTokens(uint64_t seed, int64_t sample, int64_t begin, int64_t count, int64_t vocab,
                int32_t* out) {
  const uint64_t key = Mix(RandomKey(seed, "tokens") ^ static_cast<uint64_t>(sample));
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = Mix(key ^ Mix(static_cast<uint64_t>(begin + i)));
    // The high half of a 64 x 64 bit product is uniform in [0, vocab).
    __extension__ using Wide = unsigned __int128;
    out[i] = static_cast<int32_t>((Wide{bits} * static_cast<uint64_t>(vocab)) >> 64);
  }
}

}  // namespace meshwright::worker

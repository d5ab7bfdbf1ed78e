#include "executor/worker/state/random.h"

#include "kernels/random_normal.h"

namespace meshwright::worker {

using kernels::Mix;

uint64_t RandomKey(uint64_t seed, std::string_view tensor_name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : tensor_name) {
    hash = (hash ^ static_cast<uint64_t>(static_cast<unsigned char>(c))) * 0x100000001b3u;
  }
  return Mix(Mix(seed) ^ hash);
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

// Training tokens and the keys of initial weights (kernels::RandomNormal) as pure functions of
// (seed, identity, global index).
//
// No generator state: any rank can make any part of a tensor, so every layout starts from the same
// numbers and reads the same tokens.
#pragma once

#include <cstdint>
#include <string_view>

namespace meshwright::worker {

// Identifies a tensor among all random tensors of a run.
uint64_t RandomKey(uint64_t seed, std::string_view tensor_name);

// out[i] = token at position begin + i of sample `sample`: uniform in [0, vocab).
void FillTokens(uint64_t seed, int64_t sample, int64_t begin, int64_t count, int64_t vocab,
                int32_t* out);

}  // namespace meshwright::worker

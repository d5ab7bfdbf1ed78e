// FillTokens() and RandomKey() compute training tokens, and the keys of initial weights
// (kernels::RandomNormal), as pure functions of (seed, identity, global index).
//
// Without a generator's state, any rank can compute any part of a tensor. Every layout therefore
// starts from the same weights and reads the same tokens.
#pragma once

#include <cstdint>
#include <string_view>

namespace meshwright::worker {

// Returns the key that identifies a tensor among all random tensors of a run.
uint64_t RandomKey(uint64_t seed, std::string_view tensor_name);

// Sets out[i] to the token at position begin + i of sample `sample`: uniform in [0, vocab).
void FillTokens(uint64_t seed, int64_t sample, int64_t begin, int64_t count, int64_t vocab,
                int32_t* out);

}  // namespace meshwright::worker

// SequencePiecesOf() says which positions of a sequence a rank of context parallelism holds.
//
// In causal attention later tokens cost more, because more tokens come before them. The sequence is
// therefore cut into 2 * cp pieces, and rank i holds the i-th from the front and the i-th from the
// back. All ranks then have the same work (as in Megatron-LM and in Llama 3, arXiv 2407.21783).
#pragma once

#include <array>
#include <cstdint>

namespace meshwright::planner {

// The positions [begin, begin + count) of a sequence.
struct SequencePiece {
  int64_t begin = 0;
  int64_t count = 0;

  friend bool operator==(const SequencePiece&, const SequencePiece&) = default;
};

// Returns the two pieces of a rank, in the order in which it holds their tokens. If cp = 1, they
// are the whole sequence. REQUIRES: if cp > 1, 2 * cp divides seq_len.
inline std::array<SequencePiece, 2> SequencePiecesOf(int64_t seq_len, int32_t cp_rank, int32_t cp) {
  const int64_t count = seq_len / (2 * int64_t{cp});
  const int64_t rest = seq_len - count * (2 * int64_t{cp} - 1);
  return {SequencePiece{.begin = cp_rank * count, .count = count},
          SequencePiece{.begin = (2 * int64_t{cp} - 1 - cp_rank) * count, .count = rest}};
}

}  // namespace meshwright::planner

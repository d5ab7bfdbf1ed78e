// Which positions of a sequence a rank of the CP group holds.
//
// Causal attention costs a token as much as it has tokens before it. The sequence is cut into 2c
// pieces, and rank i holds the i-th from the front and the i-th from the back, so that every rank
// has the same work (as in Megatron-LM and in Llama 3, arXiv 2407.21783).
#pragma once

#include <array>
#include <cstdint>

namespace meshwright::planner {

// `count` positions from `begin`.
struct SequencePiece {
  int64_t begin = 0;
  int64_t count = 0;

  friend bool operator==(const SequencePiece&, const SequencePiece&) = default;
};

// The rank's two pieces, in the order in which its tokens lie. They make up the whole sequence for
// cp = 1. Requires that 2 * cp divides seq_len where cp > 1.
inline std::array<SequencePiece, 2> SequencePiecesOf(int64_t seq_len, int32_t cp_rank, int32_t cp) {
  const int64_t count = seq_len / (2 * int64_t{cp});
  const int64_t rest = seq_len - count * (2 * int64_t{cp} - 1);
  return {SequencePiece{.begin = cp_rank * count, .count = count},
          SequencePiece{.begin = (2 * int64_t{cp} - 1 - cp_rank) * count, .count = rest}};
}

}  // namespace meshwright::planner

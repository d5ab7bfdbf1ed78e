// StreamPositions maps the tokens of a rank's share of the residual stream to sequence positions.
//
// A micro-batch's sequences follow each other. A TP group holds two pieces of each sequence, which
// its position in the CP group determines (planner/layout/sequence_share.h). With sequence
// parallelism, the ranks of the TP group divide all these tokens into equal shares.
#pragma once

#include <array>
#include <cstdint>

#include "executor/worker/state/rank_context.h"
#include "planner/layout/sequence_share.h"

namespace meshwright::worker {

class StreamPositions {
 public:
  explicit StreamPositions(const RankContext& context);

  int64_t tokens() const { return tokens_; }
  // Returns the index of this rank's first token among the micro-batch's tokens of the TP group.
  int64_t first() const { return first_; }
  // Return the sequence of `token` in [0, tokens()), and its position in the sequence.
  int64_t SequenceOf(int64_t token) const { return (first_ + token) / local_seq_len_; }
  int64_t PositionOf(int64_t token) const;

  // Returns the length, in positions, of runs into which every sequence can be cut so that each run
  // lies on one rank.
  int64_t run_tokens() const { return run_tokens_; }

 private:
  int64_t tokens_;
  int64_t first_;
  int64_t local_seq_len_;
  int64_t run_tokens_;
  std::array<planner::SequencePiece, 2> pieces_;
};

}  // namespace meshwright::worker

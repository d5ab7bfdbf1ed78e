// StreamPositions maps the tokens of a rank's share of the residual stream to sequence positions.
//
// A micro-batch's sequences follow each other, each with the two pieces that the rank of the CP
// group holds (planner/layout/sequence_share.h); with sequence parallel the ranks of the TP group
// cut that into equal shares.
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
  // Index of the first token of this rank's share among the micro-batch's tokens of the TP group.
  int64_t first() const { return first_; }
  // For `token` in [0, tokens()).
  int64_t SequenceOf(int64_t token) const { return (first_ + token) / local_seq_len_; }
  int64_t PositionOf(int64_t token) const;

  // Each run of so many consecutive positions of a sequence, counted from 0, is on one rank.
  int64_t run_tokens() const { return run_tokens_; }

 private:
  int64_t tokens_;
  int64_t first_;
  int64_t local_seq_len_;
  int64_t run_tokens_;
  std::array<planner::SequencePiece, 2> pieces_;
};

}  // namespace meshwright::worker

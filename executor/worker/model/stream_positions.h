// Where the tokens of a rank's share of the residual stream stand in their sequences.
//
// A micro-batch's sequences lie one after the other, each with the two pieces that the rank of the
// CP group holds (planner/layout/sequence_share.h); with sequence parallel the ranks of the TP
// group cut that into equal shares.
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
  // Of the micro-batch's tokens on the ranks of the TP group, the first in this rank's share.
  int64_t first() const { return first_; }
  // For `token` in [0, tokens()).
  int64_t SequenceOf(int64_t token) const { return (first_ + token) / local_seq_len_; }
  int64_t PositionOf(int64_t token) const;

  // So many neighbouring positions of a sequence, counted from 0, are all on one rank.
  int64_t run_tokens() const { return run_tokens_; }

 private:
  int64_t tokens_;
  int64_t first_;
  int64_t local_seq_len_;
  int64_t run_tokens_;
  std::array<planner::SequencePiece, 2> pieces_;
};

}  // namespace meshwright::worker

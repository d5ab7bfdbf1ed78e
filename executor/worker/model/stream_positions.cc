#include "executor/worker/model/stream_positions.h"

#include <numeric>

namespace meshwright::worker {

StreamPositions::StreamPositions(const RankContext& context)
    : tokens_(context.stream_tokens()),
      first_(context.layout.sequence_parallel ? context.coordinates.tp * tokens_ : 0),
      local_seq_len_(context.local_seq_len()),
      pieces_(planner::SequencePiecesOf(context.training.seq_len, context.coordinates.cp,
                                        context.layout.cp)) {
  // Without context parallel the two pieces are adjacent.
  const int64_t piece = context.layout.cp > 1 ? pieces_[0].count : local_seq_len_;
  run_tokens_ = std::gcd(piece, tokens_);
}

int64_t StreamPositions::PositionOf(int64_t token) const {
  const int64_t index = (first_ + token) % local_seq_len_;
  return index < pieces_[0].count ? pieces_[0].begin + index
                                  : pieces_[1].begin + index - pieces_[0].count;
}

}  // namespace meshwright::worker

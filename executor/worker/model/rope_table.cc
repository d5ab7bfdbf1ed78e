#include "executor/worker/model/rope_table.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <cmath>
#include <vector>

#include "planner/layout/sequence_share.h"
#include "planner/spec/rotary.h"

namespace meshwright::worker {

RopeTable::RopeTable(const RankContext& context) {
  const int64_t seq_len = context.local_seq_len();
  const int64_t half =
      planner::RotaryElements(context.model, context.model.groups.front().attention) / 2;
  std::vector<double> values(static_cast<size_t>(2 * seq_len * half));
  int64_t row = 0;
  for (const planner::SequencePiece& piece : planner::SequencePiecesOf(
           context.training.seq_len, context.coordinates.cp, context.layout.cp)) {
    for (int64_t position = piece.begin; position < piece.begin + piece.count; ++position, ++row) {
      for (int64_t i = 0; i < half; ++i) {
        const double frequency =
            planner::ScaledFrequency(context.model.rope_scaling,
                                     std::pow(context.model.rope_theta,
                                              -static_cast<double>(i) / static_cast<double>(half)));
        const double angle = static_cast<double>(position) * frequency;
        values[row * half + i] = std::cos(angle);
        values[(seq_len + row) * half + i] = std::sin(angle);
      }
    }
  }
  table_ = at::empty({2, seq_len, half}, context.options_of(context.accumulator_dtype()));
  if (half == 0) return;
  table_.copy_(at::from_blob(values.data(), {2, seq_len, half}, at::kDouble));
}

const void* RopeTable::sine() const {
  return static_cast<const char*>(cosine()) + table_.nbytes() / 2;
}

}  // namespace meshwright::worker

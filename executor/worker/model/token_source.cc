#include "executor/worker/model/token_source.h"

#include <ATen/ops/empty.h>

#include "executor/worker/state/random.h"
#include "planner/layout/sequence_share.h"

namespace meshwright::worker {

at::Tensor TokenSource::Tokens(int32_t micro_batch, int64_t first_position) const {
  at::Tensor tokens = at::empty({context_.tokens()}, context_.options_of(at::kInt));
  if (tokens.is_cpu()) {
    Fill(micro_batch, first_position, tokens.mutable_data_ptr<int32_t>());
    return tokens;
  }
  // Copied from pinned memory, so that the host need not wait for the device's earlier work. Torch
  // keeps the memory until the copy is done.
  const at::Tensor pinned =
      at::empty(tokens.sizes(), at::TensorOptions().dtype(at::kInt).pinned_memory(true));
  Fill(micro_batch, first_position, pinned.mutable_data_ptr<int32_t>());
  tokens.copy_(pinned, /*non_blocking=*/true);
  return tokens;
}

void TokenSource::Fill(int32_t micro_batch, int64_t first_position, int32_t* out) const {
  const planner::Layout& layout = context_.layout;
  const int64_t global_batch = context_.training.global_batch;
  // A data-parallel rank reads a contiguous share of the global batch.
  const int64_t first_sample = step_ * global_batch +
                               context_.coordinates.dp * (global_batch / layout.dp) +
                               int64_t{micro_batch} * layout.micro_batch;
  for (int32_t i = 0; i < layout.micro_batch; ++i) {
    for (const planner::SequencePiece& piece :
         planner::SequencePiecesOf(context_.training.seq_len, context_.coordinates.cp, layout.cp)) {
      FillTokens(context_.seed, first_sample + i, first_position + piece.begin, piece.count,
                 context_.model.vocab, out);
      out += piece.count;
    }
  }
}

}  // namespace meshwright::worker

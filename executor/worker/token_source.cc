#include "executor/worker/token_source.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <vector>

#include "executor/worker/random.h"
#include "executor/worker/sequence_share.h"

namespace meshwright {

at::Tensor TokenSource::Tokens(int32_t micro_batch, int64_t first_position) const {
  const Layout& layout = context_.layout;
  const int64_t global_batch = context_.training.global_batch;
  // A data-parallel rank reads a contiguous share of the global batch.
  const int64_t first_sample = step_ * global_batch +
                               context_.coordinates.dp * (global_batch / layout.dp) +
                               int64_t{micro_batch} * layout.micro_batch;
  std::vector<int32_t> values(static_cast<size_t>(context_.tokens()));
  int32_t* out = values.data();
  for (int32_t i = 0; i < layout.micro_batch; ++i) {
    for (const SequencePiece& piece :
         SequencePiecesOf(context_.training.seq_len, context_.coordinates.cp, layout.cp)) {
      FillTokens(context_.seed, first_sample + i, first_position + piece.begin, piece.count,
                 context_.model.vocab, out);
      out += piece.count;
    }
  }
  at::Tensor tokens = at::empty({context_.tokens()}, context_.options_of(at::kInt));
  tokens.copy_(at::from_blob(values.data(), {context_.tokens()}, at::kInt));
  return tokens;
}

}  // namespace meshwright

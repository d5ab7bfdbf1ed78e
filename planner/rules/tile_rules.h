// Rules that keep Meshwright's worker from cutting scale tiles: blocks of a quantised tensor that
// share one scale (planner/block/scale_tiles.h). If no tile is cut, a tensor has the same tiles
// under every layout, with the same scales and the same quantised values.
//
// The widths and the numbers of tokens on a rank must be multiples of 128. Tensor parallelism cuts
// the rows or columns of a matrix into consecutive parts. Tokens are cut into sequences. Context
// parallelism gives a rank two blocks of each sequence. Sequence parallelism gives a rank a share
// of the micro-batch. No rule covers an expert's tokens, because the router decides their number
// (executor/worker/model/projection.h).
#pragma once

#include <array>
#include <string>

#include "planner/block/scale_tiles.h"
#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// The width that is divided into tiles. Stored in Operands::more[0].
enum class TiledWidth : int64_t { kHidden, kQueries, kKeys, kFfn, kExpert };
// The tokens that are divided into tiles. Stored in Operands::more[0].
enum class TiledTokens : int64_t { kSequence, kContextBlock, kShare };

// Returns whether the worker runs the layout with scale tiles. If not, no rule here applies.
inline bool CutsTiles(const RuleInput& input) {
  return input.profile.engine == Engine::kWorker && input.training.quantisation().scales_blocks;
}

// Returns whether a rank's part of `width` cuts a tile. Returns false if `ranks` does not divide
// `width`, because other rules report that.
inline bool CutsWidth(int64_t width, int64_t ranks, TiledWidth what, Operands& operands) {
  if (width % ranks != 0 || width / ranks % kScaleTile == 0) return false;
  operands = {.value = width / ranks,
              .divisor = kScaleTile,
              .more = {static_cast<int64_t>(what), width, ranks}};
  return true;
}

inline bool CutsWidthTiles(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (!CutsTiles(input)) return false;
  if (CutsWidth(input.model.hidden, 1, TiledWidth::kHidden, operands)) return true;
  return AnyGroup(input, [&](const LayerGroup& group) {
    const Attention& attention = group.attention;
    return CutsWidth(attention.heads * attention.head_dim, layout.tp, TiledWidth::kQueries,
                     operands) ||
           CutsWidth(attention.kv_heads * attention.head_dim, layout.tp, TiledWidth::kKeys,
                     operands) ||
           CutsWidth(group.ffn.dense_hidden(), layout.tp, TiledWidth::kFfn, operands) ||
           (group.ffn.has_experts() &&
            CutsWidth(group.ffn.hidden, layout.etp, TiledWidth::kExpert, operands));
  });
}

inline bool CutsTokens(int64_t tokens, TiledTokens what, int64_t of, Operands& operands) {
  if (tokens % kScaleTile == 0) return false;
  operands = {.value = tokens, .divisor = kScaleTile, .more = {static_cast<int64_t>(what), of, 0}};
  return true;
}

inline bool CutsTokenTiles(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (!CutsTiles(input)) return false;
  const int64_t seq_len = input.training.seq_len;
  const int64_t block = layout.cp == 1 ? seq_len : seq_len / (2 * int64_t{layout.cp});
  const TiledTokens what = layout.cp == 1 ? TiledTokens::kSequence : TiledTokens::kContextBlock;
  if (CutsTokens(block, what, layout.cp, operands)) return true;
  if (!layout.sequence_parallel) return false;
  const int64_t share = layout.micro_batch * (seq_len / layout.cp) / layout.tp;
  return CutsTokens(share, TiledTokens::kShare, layout.tp, operands);
}

std::string DescribeWidthTiles(const Operands& operands);
std::string DescribeTokenTiles(const Operands& operands);

// Returns whether the model has a part that the worker can't run with quantised products.
inline bool NarrowsMissingPart(const RuleInput& input, const Layout& /*layout*/,
                               Operands& operands) {
  if (!CutsTiles(input)) return false;
  return AnyGroup(input, [&](const LayerGroup& group) {
    return group.attention.is_latent() &&
           Broken(static_cast<int64_t>(input.training.precision), 0, operands);
  });
}

std::string DescribeNarrowedPart(const Operands& operands);

}  // namespace meshwright::planner

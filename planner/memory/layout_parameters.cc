#include "planner/memory/layout_parameters.h"

#include <algorithm>

#include "planner/layout/stage_partition.h"
#include "planner/spec/parameters.h"

namespace meshwright::planner {
namespace {

// Parameters of one layer on one TP rank: projections are divided, norms are not. K/V heads are
// replicated where TP has more ranks than there are heads.
UnitParameters LayerPerRank(const ModelSpec& model, const LayerGroup& group, int32_t tp) {
  const int64_t query = model.heads / tp * model.head_dim;
  const int64_t key = std::max<int64_t>(model.kv_heads / tp, 1) * model.head_dim;
  const int64_t biases = model.qkv_bias ? query + 2 * key : 0;
  const int64_t vectors = biases + NormParameters(model);
  return {.all = model.hidden * (2 * query + 2 * key) + FfnParameters(model, group) / tp + vectors,
          .vectors = vectors};
}

}  // namespace

LayoutParameters::LayoutParameters(const EstimateContext& context, const Layout& layout)
    : model_(context.model),
      layout_(layout),
      partition_(context.profile.supports.stage_partition),
      embedding_{.all = PaddedVocab(context, layout.tp) / layout.tp * context.model.hidden},
      final_norm_{.all = context.model.hidden, .vectors = context.model.hidden},
      largest_unit_(embedding_.all) {
  for (const LayerGroup& group : model_.groups) {
    layer_.push_back(LayerPerRank(model_, group, layout.tp));
    largest_unit_ = std::max(largest_unit_, layer_.back().all);
  }
}

int64_t LayoutParameters::OnRank(int32_t pipeline_rank) const {
  int64_t parameters = 0;
  ForEachUnit(pipeline_rank,
              [&](const UnitParameters& unit, int64_t count) { parameters += count * unit.all; });
  return parameters;
}

int64_t LayoutParameters::Most() const {
  int64_t most = 0;
  for (int32_t rank = 0; rank < layout_.pp; ++rank) most = std::max(most, OnRank(rank));
  return most;
}

int64_t PaddedVocab(const EstimateContext& context, int32_t tp) {
  if (context.profile.supports.vocab_multiple == 0) return context.model.vocab;
  const int64_t multiple = int64_t{context.profile.supports.vocab_multiple} * tp;
  return (context.model.vocab + multiple - 1) / multiple * multiple;
}

}  // namespace meshwright::planner

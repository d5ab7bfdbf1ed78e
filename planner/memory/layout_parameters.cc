#include "planner/memory/layout_parameters.h"

#include <algorithm>

#include "planner/layout/stage_partition.h"
#include "planner/schedule/placement.h"
#include "planner/spec/parameters.h"

namespace meshwright {
namespace {

// Parameters of one layer on one TP rank: projections are divided, norms are not. K/V heads are
// replicated where TP has more ranks than there are heads.
int64_t LayerParametersPerRank(const ModelSpec& model, const LayerGroup& group, int32_t tp) {
  const int64_t query = model.heads / tp * model.head_dim;
  const int64_t key = std::max<int64_t>(model.kv_heads / tp, 1) * model.head_dim;
  const int64_t biases = model.qkv_bias ? query + 2 * key : 0;
  return model.hidden * (2 * query + 2 * key) + biases + FfnParameters(model, group) / tp +
         NormParameters(model);
}

}  // namespace

LayoutParameters::LayoutParameters(const EstimateContext& context, const Layout& layout)
    : model_(context.model),
      layout_(layout),
      partition_(context.profile.stage_partition),
      embedding_(PaddedVocab(context, layout.tp) / layout.tp * context.model.hidden),
      largest_unit_(embedding_) {
  for (const LayerGroup& group : model_.groups) {
    layer_.push_back(LayerParametersPerRank(model_, group, layout.tp));
    largest_unit_ = std::max(largest_unit_, layer_.back());
  }
}

int64_t LayoutParameters::OnRank(int32_t pipeline_rank) const {
  int64_t count = 0;
  for (int32_t chunk = 0; chunk < layout_.vpp; ++chunk) {
    const StageLayers stage =
        StageOf(model_, layout_, partition_, StageOfChunk(layout_, pipeline_rank, chunk));
    ForEachGroup(model_, stage,
                 [&](size_t group, int64_t layers) { count += layers * layer_[group]; });
    if (stage.has_embedding) count += embedding_;
    if (!stage.has_head) continue;
    // Tied embeddings are one matrix where both ends of the model are on the same rank.
    const bool shared = model_.tied_embeddings && EndsShareRank(layout_);
    count += model_.hidden + (shared ? 0 : embedding_);
  }
  return count;
}

int64_t LayoutParameters::Most() const {
  int64_t most = 0;
  for (int32_t rank = 0; rank < layout_.pp; ++rank) most = std::max(most, OnRank(rank));
  return most;
}

int64_t PaddedVocab(const EstimateContext& context, int32_t tp) {
  if (context.profile.vocab_multiple == 0) return context.model.vocab;
  const int64_t multiple = int64_t{context.profile.vocab_multiple} * tp;
  return (context.model.vocab + multiple - 1) / multiple * multiple;
}

}  // namespace meshwright

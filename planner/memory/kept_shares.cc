#include "planner/memory/kept_shares.h"

#include "planner/memory/chunks_in_flight.h"

namespace meshwright::planner {

KeptShares KeptSharesOnRank(const EstimateContext& context, const Layout& layout,
                            int32_t pipeline_rank) {
  const PlannedLayout planned(context, layout);
  const ChunksInFlight chunks(layout, pipeline_rank,
                              layout.MicroBatches(context.training.global_batch));
  KeptShares sum;
  const auto add = [&](const BlockSums& block, int64_t times) {
    sum.experts_bytes += times * block.kept_shares.experts_bytes;
    sum.projected_bytes += times * block.kept_shares.projected_bytes;
    sum.latent_bytes += times * block.kept_shares.latent_bytes;
  };
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const int64_t in_flight = chunks.OfChunk(chunk);
    const StageLayers& stage = planned.StageOnRank(pipeline_rank, chunk);
    const auto add_layers = [&](const BlockSums& block, int64_t layers) {
      add(block, in_flight * (layers - RecomputedLayers(layout, layers)));
    };
    OffloadedLayers offloaded(layout);
    ForEachGroup(context.model, stage, [&](size_t group, int64_t layers) {
      add_layers(planned.block(group), layers - offloaded.Of(layers));
    });
    if (stage.has_head) add_layers(planned.last_block(), context.model.mtp_layers);
  }
  return sum;
}

}  // namespace meshwright::planner

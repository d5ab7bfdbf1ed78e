#include "planner/memory/rank_memory.h"

#include <algorithm>
#include <cmath>

#include "planner/layout/stage_partition.h"
#include "planner/memory/worker_memory.h"
#include "planner/schedule/closed_forms.h"
#include "planner/spec/parameters.h"

namespace meshwright {
namespace {

int64_t KvHeadsPerRank(const ModelSpec& model, int32_t tp) {
  return model.kv_heads >= tp ? model.kv_heads / tp : 1;
}

// Parameters of one layer on one TP rank: projections are divided, norms are not.
int64_t LayerParametersPerRank(const ModelSpec& model, const LayerGroup& group, int32_t tp) {
  const int64_t query = model.heads / tp * model.head_dim;
  const int64_t key = KvHeadsPerRank(model, tp) * model.head_dim;
  const int64_t biases = model.qkv_bias ? query + 2 * key : 0;
  return model.hidden * (2 * query + 2 * key) + biases + FfnParameters(model, group) / tp +
         NormParameters(model);
}

int64_t EmbeddingParametersPerRank(const EstimateContext& context, int32_t tp) {
  return PaddedVocab(context, tp) / tp * context.model.hidden;
}

// ZeRO shards the model states over data and context ranks.
int64_t ShardingRanks(const Layout& layout) { return int64_t{layout.dp} * layout.cp; }

int64_t DivideUp(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

void AddModelStates(const EstimateContext& context, const Layout& layout, MemoryEstimate& memory) {
  const int64_t parameters = RankParameters(context, layout, memory.pipeline_rank);
  const Precision precision = context.training.precision;
  const int64_t shard = DivideUp(parameters, ShardingRanks(layout));
  // fp32 weights are their own master copy.
  const int64_t optimizer_bytes =
      context.profile.optimizer_bytes - (precision == Precision::kFp32 ? 4 : 0);
  const int64_t gradient_bytes = precision == Precision::kFp32 ? 4 : context.profile.gradient_bytes;
  memory.weights_bytes = (layout.zero >= 3 ? shard : parameters) * ElementBytes(precision);
  memory.gradients_bytes = (layout.zero >= 2 ? shard : parameters) * gradient_bytes;
  memory.optimizer_bytes = (layout.zero >= 1 ? shard : parameters) * optimizer_bytes;
}

// ZeRO-2 and 3 hold what is on its way: the gradients of one unit, and under ZeRO-3 the weights of
// two. A unit is a layer or the embedding.
int64_t GatheredBytes(const EstimateContext& context, const Layout& layout) {
  if (layout.zero < 2) return 0;
  int64_t unit = EmbeddingParametersPerRank(context, layout.tp);
  for (const LayerGroup& group : context.model.groups) {
    unit = std::max(unit, LayerParametersPerRank(context.model, group, layout.tp));
  }
  const int64_t weights =
      layout.zero == 3 ? 2 * unit * ElementBytes(context.training.precision) : 0;
  return weights + unit * context.profile.gradient_bytes;
}

int64_t KeptPerMicroBatch(const BlockDims& dims, const Layout& layout, int64_t layers) {
  switch (layout.recompute) {
    case Recompute::kNone:
      return layers * KeptBytesPerBlock(dims);
    case Recompute::kSelective:
      return layers * SelectiveKeptBytesPerBlock(dims);
    case Recompute::kFull:
      return layers * CheckpointBytesPerBlock(dims);
    case Recompute::kBlock: {
      const int64_t recomputed = std::min<int64_t>(layout.recompute_layers, layers);
      return recomputed * CheckpointBytesPerBlock(dims) +
             (layers - recomputed) * KeptBytesPerBlock(dims);
    }
  }
  return 0;
}

// Ring attention receives the next block of keys and values while it works on one.
int64_t RingBufferBytes(const BlockDims& dims, const Layout& layout) {
  if (layout.cp == 1) return 0;
  return 2 * (KeptBytes(KeptTensor::kKey, dims) + KeptBytes(KeptTensor::kValue, dims));
}

// Activations of all micro-batches in flight, and what the layer at work needs beside them.
void AddActivations(const EstimateContext& context, const Layout& layout, MemoryEstimate& memory) {
  const int64_t micro_batches = layout.MicroBatches(context.training.global_batch);
  const int64_t chunks = PeakChunksInFlight(layout, memory.pipeline_rank, micro_batches);
  const StageLayers stage = StageOf(context.model, layout, memory.pipeline_rank);
  int64_t widest = 0;
  ForEachGroup(context.model, stage, [&](size_t group, int64_t layers) {
    const BlockDims dims = BlockDimsOf(context, layout, context.model.groups[group]);
    memory.activations_bytes += chunks * KeptPerMicroBatch(dims, layout, layers);
    // The backward pass of one block holds the gradients of its FFN inputs, its product and its two
    // ends.
    int64_t working = KeptBytes(KeptTensor::kGate, dims) + 2 * KeptBytes(KeptTensor::kUp, dims) +
                      2 * KeptBytes(KeptTensor::kFfnResidual, dims) + RingBufferBytes(dims, layout);
    if (layout.recompute == Recompute::kFull || layout.recompute == Recompute::kBlock) {
      working += KeptBytesPerBlock(dims) - CheckpointBytesPerBlock(dims);
    } else if (layout.recompute == Recompute::kSelective) {
      working += KeptBytesPerBlock(dims) - SelectiveKeptBytesPerBlock(dims);
    }
    widest = std::max(widest, working);
  });
  memory.workspace_bytes = widest + GatheredBytes(context, layout);
  if (layout.pp > 1) {
    // One activation being sent and one being received.
    const BlockDims dims = BlockDimsOf(context, layout, context.model.groups.front());
    memory.workspace_bytes += 2 * CheckpointBytesPerBlock(dims);
  }
}

// Logits of one micro-batch at the peak of the cross entropy, and the final norm's input and
// output. 1F1B and interleaved 1F1B run the loss's backward at once, so one micro-batch is alive;
// GPipe and breadth-first hold all.
void AddLoss(const EstimateContext& context, const Layout& layout, MemoryEstimate& memory) {
  if (memory.pipeline_rank != layout.pp - 1) return;
  const BlockDims dims = BlockDimsOf(context, layout, context.model.groups.back());
  const int64_t columns =
      PaddedVocab(context, layout.tp) / (context.profile.vocab_parallel_loss ? layout.tp : 1);
  const auto peak = static_cast<int64_t>(
      std::llround(context.profile.loss_peak_bytes_per_logit * static_cast<double>(dims.tokens) *
                   static_cast<double>(columns)));
  const int64_t inputs = 2 * CheckpointBytesPerBlock(dims);
  const bool all_alive =
      layout.schedule == ScheduleKind::kGpipe || layout.schedule == ScheduleKind::kBreadthFirst;
  const int64_t alive = all_alive ? layout.MicroBatches(context.training.global_batch) : 1;
  memory.loss_bytes = alive * (peak + inputs);
}

// What the worker's allocation rules cover.
bool WorkerRulesApply(const EstimateContext& context, const Layout& layout) {
  return context.profile.worker_allocations && layout.vpp == 1 && layout.cp == 1 &&
         layout.schedule == ScheduleKind::k1f1b && layout.recompute == Recompute::kNone &&
         !layout.sequence_parallel && context.model.groups.size() == 1;
}

void AddWorkerActivations(const EstimateContext& context, const Layout& layout,
                          MemoryEstimate& memory) {
  const StageLayers stage = StageOf(context.model, layout, memory.pipeline_rank);
  const int64_t micro_batches = layout.MicroBatches(context.training.global_batch);
  const WorkerActivations peak = PeakWorkerActivations(
      {.block = BlockDimsOf(context, layout, context.model.groups.front()),
       .layers = stage.layer_count,
       .first = stage.has_embedding,
       .last = stage.has_head,
       .in_flight = PeakChunksInFlight(layout, memory.pipeline_rank, micro_batches),
       .micro_batches = micro_batches,
       .seq_len = context.training.seq_len,
       .vocab = context.model.vocab});
  memory.activations_bytes = peak.kept_bytes;
  memory.loss_bytes = peak.loss_bytes;
  memory.workspace_bytes = peak.workspace_bytes + GatheredBytes(context, layout);
}

}  // namespace

int64_t ElementBytes(Precision precision) { return precision == Precision::kFp32 ? 4 : 2; }

int64_t PaddedVocab(const EstimateContext& context, int32_t tp) {
  if (context.profile.vocab_multiple == 0) return context.model.vocab;
  const int64_t multiple = int64_t{context.profile.vocab_multiple} * tp;
  return DivideUp(context.model.vocab, multiple) * multiple;
}

BlockDims BlockDimsOf(const EstimateContext& context, const Layout& layout,
                      const LayerGroup& group) {
  const ModelSpec& model = context.model;
  return {.tokens = context.training.seq_len / layout.cp * layout.micro_batch,
          .hidden = model.hidden,
          .heads = model.heads,
          .kv_heads = model.kv_heads,
          .head_dim = model.head_dim,
          .ffn_hidden = group.ffn_hidden,
          .ffn = group.ffn,
          .element_bytes = ElementBytes(context.training.precision),
          .tp = layout.tp,
          .sequence_parallel = layout.sequence_parallel,
          .keeps_gathered_inputs = context.profile.keeps_gathered_inputs,
          .fused_swiglu = context.profile.fused_swiglu};
}

int64_t RankParameters(const EstimateContext& context, const Layout& layout,
                       int32_t pipeline_rank) {
  const ModelSpec& model = context.model;
  int64_t count = 0;
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const StageLayers stage = StageOf(model, layout, chunk * layout.pp + pipeline_rank);
    ForEachGroup(model, stage, [&](size_t group, int64_t layers) {
      count += layers * LayerParametersPerRank(model, model.groups[group], layout.tp);
    });
    if (stage.has_embedding) count += EmbeddingParametersPerRank(context, layout.tp);
    if (stage.has_head) {
      // Tied embeddings are one matrix where both ends of the model are on the same stage.
      const bool shared = model.tied_embeddings && stage.has_embedding;
      count += model.hidden + (shared ? 0 : EmbeddingParametersPerRank(context, layout.tp));
    }
  }
  return count;
}

MemoryEstimate EstimateRankMemory(const EstimateContext& context, const Layout& layout,
                                  int32_t pipeline_rank) {
  MemoryEstimate memory;
  memory.pipeline_rank = pipeline_rank;
  AddModelStates(context, layout, memory);
  if (WorkerRulesApply(context, layout)) {
    AddWorkerActivations(context, layout, memory);
  } else {
    AddActivations(context, layout, memory);
    AddLoss(context, layout, memory);
  }
  const HardwareProfile& device = context.cluster.device;
  memory.overhead_bytes =
      device.context_bytes + (layout.devices() > 1 ? device.communicator_bytes : 0);
  return memory;
}

MemoryEstimate EstimateMemory(const EstimateContext& context, const Layout& layout) {
  MemoryEstimate fullest = EstimateRankMemory(context, layout, 0);
  for (int32_t rank = 1; rank < layout.pp; ++rank) {
    const MemoryEstimate memory = EstimateRankMemory(context, layout, rank);
    if (memory.total_bytes() > fullest.total_bytes()) fullest = memory;
  }
  return fullest;
}

}  // namespace meshwright

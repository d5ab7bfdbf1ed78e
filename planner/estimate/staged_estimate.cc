#include "planner/estimate/staged_estimate.h"

#include <algorithm>
#include <utility>

#include "planner/block/parameters.h"
#include "planner/cost/optimizer_time.h"
#include "planner/cost/stragglers.h"
#include "planner/memory/chunks_in_flight.h"
#include "planner/memory/profile_memory.h"
#include "planner/memory/rank_memory.h"
#include "planner/profile/layer_shape.h"

namespace meshwright::planner {
namespace {

// Returns the seconds of a step at an MFU of 1.
double SecondsAtPeak(const EstimateContext& context, int64_t devices) {
  const double peak_flops = RankPeakFlops(context.cluster, context.training.precision, devices);
  return StepFlopsOf(context.model, context.training).palm / static_cast<double>(devices) /
         peak_flops;
}

}  // namespace

StagedEstimate::StagedEstimate(const EstimateContext& context, int64_t devices)
    : context_(context),
      network_(NetworkOf(context, devices)),
      mfu_seconds_(SecondsAtPeak(context, devices)) {
  links_.core_share = CoreShare(context.cluster, devices);
  links_.straggler_factor = StragglerFactor(context.cluster.device.straggler_sigma, devices);
}

void StagedEstimate::EnterMesh(size_t ways_to_divide) {
  ++mesh_number_;
  ways_ = ways_to_divide;
  layers_ = nullptr;
}

void StagedEstimate::EnterCell(const Layout& layout, size_t pipeline) {
  ++cell_number_;
  if (layers_ == nullptr) {
    const Mesh mesh(layout, context_.profile.communication.mesh_order);
    layers_ = &LayersOf(layout, mesh);
    pipeline_group_ = mesh.GroupOf(GroupRole::kPipeline);
  }
  Pipeline& entered = PipelineOf(layout, pipeline);
  contents_ = entered.contents.get();
  contents_number_ = entered.number;
  micro_batches_ = layout.MicroBatches(context_.training.global_batch);
  fullest_ = &contents_->Fullest(layout, micro_batches_);
  batch_ = &BatchOf(layout);
}

StagedEstimate::Pipeline& StagedEstimate::PipelineOf(const Layout& layout, size_t pipeline) {
  const auto pp = static_cast<size_t>(layout.pp);
  if (pipelines_.size() <= pp) pipelines_.resize(pp + 1);
  std::vector<Pipeline>& of_pp = pipelines_[pp];
  if (of_pp.size() <= pipeline) of_pp.resize(pipeline + 1);
  Pipeline& known = of_pp[pipeline];
  if (known.contents != nullptr) return known;
  known.contents = std::make_unique<PipelineContents>(context_, layout);
  const auto same =
      std::find_if(different_.begin(), different_.end(),
                   [&](const PipelineContents* other) { return other->HoldsAs(*known.contents); });
  known.number = static_cast<size_t>(same - different_.begin());
  if (same == different_.end()) different_.push_back(known.contents.get());
  return known;
}

StagedEstimate::LayerMesh& StagedEstimate::LayersOf(const Layout& layout, const Mesh& mesh) {
  LayerMesh wanted = {.tp = layout.tp,
                      .cp = layout.cp,
                      .ep = layout.ep,
                      .etp = layout.etp,
                      .keeps_gathered_inputs = context_.profile.KeepsGatheredInputs(layout),
                      .tensor = mesh.GroupOf(GroupRole::kTensor),
                      .context = mesh.GroupOf(GroupRole::kContext)};
  if (context_.model.has_experts()) {
    const ExpertGroups experts = mesh.expert_groups().value();
    wanted.experts = experts.experts;
    wanted.expert_tensor = experts.tensor;
  }
  // Meshes with the same tp and cp are consecutive.
  if (!layer_meshes_.empty()) {
    const LayerMesh& last = *layer_meshes_.front();
    if (last.tp != wanted.tp || last.cp != wanted.cp) layer_meshes_.clear();
  }
  for (const std::unique_ptr<LayerMesh>& known : layer_meshes_) {
    if (known->IsSameMesh(wanted)) return *known;
  }
  return *layer_meshes_.emplace_back(std::make_unique<LayerMesh>(std::move(wanted)));
}

StagedEstimate::Batch& StagedEstimate::BatchOf(const Layout& layout) {
  for (const std::unique_ptr<Batch>& known : layers_->batches) {
    if (known->micro_batch == layout.micro_batch &&
        known->sequence_parallel == layout.sequence_parallel &&
        known->vocab_ranks == VocabRanks(layout)) {
      return *known;
    }
  }
  Batch& batch = *layers_->batches.emplace_back(std::make_unique<Batch>());
  batch.micro_batch = layout.micro_batch;
  batch.sequence_parallel = layout.sequence_parallel;
  batch.vocab_ranks = VocabRanks(layout);
  return batch;
}

StagedEstimate::Blocks& StagedEstimate::BlocksOf(const Layout& layout) {
  const size_t number = RecomputeNumber(layout);
  if (batch_->blocks.size() <= number) batch_->blocks.resize(number + 1);
  std::unique_ptr<Blocks>& blocks = batch_->blocks[number];
  if (blocks != nullptr) return *blocks;
  const PlannedLayout planned(context_, layout, contents_->stages());
  const StepShape step(planned);
  blocks = std::make_unique<Blocks>(Blocks{.times = UnitTimes(step),
                                           .sums = planned.blocks(),
                                           .towers = planned.towers(),
                                           .hop_bytes = HopBytes(step),
                                           .ranks = {}});
  return *blocks;
}

PipelineRanks StagedEstimate::RanksOf(const Layout& layout, const Blocks& blocks) const {
  PipelineRanks pipeline;
  const UnitTimes& times = blocks.times;
  for (const RankContents& contents : contents_->ranks()) {
    StageTime rank;
    for (const HeldLayers& held : contents.layers) {
      const int64_t again = held.chunks * held.Recomputed(layout);
      const int64_t once = held.chunks * held.layers - again;
      if (once > 0) rank.Add(times.layers[held.shape], static_cast<double>(once));
      if (again > 0) rank.Add(times.recomputed[held.shape], static_cast<double>(again));
    }
    if (contents.has_embedding) times.AddEmbedding(rank);
    if (contents.has_head) times.AddHead(context_.model, layout, rank);
    pipeline.Add(rank, rank.total_s(), contents.ranks);
  }
  return pipeline;
}

const PipelineRanks& StagedEstimate::KnownRanksOf(const Layout& layout, Blocks& blocks) {
  if (blocks.ranks.size() <= contents_number_) blocks.ranks.resize(contents_number_ + 1);
  std::unique_ptr<const PipelineRanks>& known = blocks.ranks[contents_number_];
  if (known == nullptr) {
    known = std::make_unique<const PipelineRanks>(RanksOf(layout, blocks));
  }
  return *known;
}

StagedEstimate::Kept::Rank StagedEstimate::KeptOn(const Layout& layout, const Blocks& blocks,
                                                  const RankInFlight& rank) const {
  const RankContents& contents = contents_->ranks()[rank.contents];
  const BlockSums& ends = *blocks.sums.front();
  int64_t kept_bytes = 0;
  int64_t work_bytes = 0;
  int64_t score_bytes = 0;
  for (size_t i = 0; i < contents.layers.size(); ++i) {
    const HeldLayers& held = contents.layers[i];
    const BlockSums& block = *blocks.sums[held.shape];
    kept_bytes += rank.in_flight[i] * KeptBytes(block, held.layers, held.Recomputed(layout));
    work_bytes = std::max(work_bytes, block.workspace.working_bytes);
    score_bytes = std::max(score_bytes, block.workspace.score_bytes);
  }
  for (const auto& tower : blocks.towers) {
    if (!contents.has_embedding) break;
    kept_bytes += rank.embedding_in_flight * KeptBytes(*tower, layout);
    work_bytes = std::max(work_bytes, tower->block->workspace.working_bytes);
  }
  if (const int64_t further = context_.model.mtp_layers; contents.has_head && further > 0) {
    kept_bytes += rank.head_in_flight * (KeptBytes(*blocks.sums[blocks.times.further_shape],
                                                   further, RecomputedLayers(layout, further)) +
                                         further * ends.mtp_kept_bytes);
  }
  if (layout.pp > 1) work_bytes += 2 * ends.boundary_bytes;
  int64_t loss_bytes = 0;
  if (contents.has_head) {
    loss_bytes = LossBytes(context_, layout, micro_batches_, ends);
    work_bytes = std::max<int64_t>(0, work_bytes - loss_bytes);
  }
  return {.contents = rank.contents,
          .bytes = kept_bytes + loss_bytes + work_bytes + score_bytes,
          .fragmentation_bytes = FragmentationBytes(context_, layout, kept_bytes, loss_bytes)};
}

size_t StagedEstimate::NumberOf(const RecomputeModules& modules) {
  const auto known = std::find(module_sets_.begin(), module_sets_.end(), modules);
  const auto place = static_cast<size_t>(known - module_sets_.begin());
  if (known == module_sets_.end()) module_sets_.push_back(modules);
  return static_cast<size_t>(Recompute::kModules) + place;
}

const StagedEstimate::Kept& StagedEstimate::FillKept(const Layout& layout, size_t number) {
  if (kept_.size() <= number) kept_.resize(number + 1);
  Kept& kept = kept_[number];
  kept.cell = cell_number_;
  kept.layers = layout.recompute_layers;
  Blocks& blocks = BlocksOf(layout);
  kept.ranks.clear();
  for (const RankInFlight& rank : *fullest_) kept.ranks.push_back(KeptOn(layout, blocks, rank));
  links_.hop_s = HopTime(context_, network_, pipeline_group_, blocks.hop_bytes);
  const auto time = [&](const PipelineRanks& ranks) {
    kept.pipeline_s =
        PipelineTime(context_.profile, layout, ranks, micro_batches_, links_).step_s();
    kept.slowest_s = ranks.slowest_s;
    kept.backward_s = ranks.slowest.durations.backward_s();
  };
  if (layout.recompute == Recompute::kBlock) {
    time(RanksOf(layout, blocks));
  } else {
    time(KnownRanksOf(layout, blocks));
  }
  return kept;
}

const StagedEstimate::States& StagedEstimate::FillStates(const Layout& layout, size_t place) {
  if (states_.size() <= place) states_.resize(place + 1);
  States& states = states_[place];
  states.mesh = mesh_number_;
  const PlannedLayout planned(context_, layout, contents_->stages(), BlocksOf(layout).sums);
  const ProfileMemory memory(planned);
  const StepShape step(planned);
  states.ranks.clear();
  for (const RankContents& contents : contents_->ranks()) {
    const int32_t rank = contents.first_rank;
    const HeldParameters held = memory.HeldOnRank(rank);
    const int64_t overhead_bytes = context_.cluster.device.context_bytes + memory.LibraryBytes() +
                                   memory.CommunicatorBytes(rank);
    states.ranks.push_back(
        {.fixed_bytes =
             meshwright::planner::StatesOf(context_, layout, held).total_bytes() + overhead_bytes,
         .optimizer_step_bytes = OptimizerStepBytes(context_.profile, layout, held),
         .parameters = TransitParameters(planned.ParametersOnRank(rank))});
  }
  states.largest_unit = planned.LargestUnit();
  states.traffic = StateTrafficOf(step, planned.MostTrained());
  states.apart_s = OptimizerTime(step) + TiedEmbeddingTime(step) + SelectionBiasTime(step);
  return states;
}

int64_t StagedEstimate::MemoryBytes(const Layout& layout, size_t way) {
  const States& states = StatesOf(layout, way);
  const Kept& kept = KeptOf(layout);
  int64_t most_bytes = 0;
  for (const Kept::Rank& rank : kept.ranks) {
    const States::Rank& held = states.ranks[rank.contents];
    int64_t bytes = rank.bytes;
    if (layout.zero >= 2) {
      bytes += GatheredBytes(context_, layout, states.largest_unit, held.parameters);
    }
    bytes = held.optimizer_step_bytes > bytes ? held.optimizer_step_bytes
                                              : bytes + rank.fragmentation_bytes;
    most_bytes = std::max(most_bytes, held.fixed_bytes + bytes);
  }
  return context_.correction == nullptr ? most_bytes : context_.correction->PeakBytes(most_bytes);
}

double StagedEstimate::StepSeconds(const Layout& layout, size_t way, double fraction_of_device) {
  const States& states = StatesOf(layout, way);
  const Kept& kept = KeptOf(layout);
  const double pressure = AllocatorPressure(context_.profile, layout, fraction_of_device);
  const double step_s = kept.pipeline_s + pressure * kept.pipeline_s +
                        ExposedTraffic(context_.profile, layout, states.traffic, micro_batches_,
                                       layout.zero >= 2 ? kept.slowest_s : kept.backward_s) +
                        states.apart_s;
  return context_.correction == nullptr ? step_s : step_s * context_.correction->StepFactor(layout);
}

}  // namespace meshwright::planner

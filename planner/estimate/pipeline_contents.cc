#include "planner/estimate/pipeline_contents.h"

#include <algorithm>

#include "planner/memory/chunks_in_flight.h"
#include "planner/profile/planned_layout.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

// Returns the entry for a chunk's layers of one shape, which is added where there is none.
size_t EntryOf(const HeldLayers& held, std::vector<HeldLayers>& entries) {
  for (size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].shape == held.shape && entries[i].layers == held.layers &&
        entries[i].among_first == held.among_first) {
      return i;
    }
  }
  entries.push_back(held);
  return entries.size() - 1;
}

// Returns HeldLayers::among_first of a stage that has layers of several shapes.
std::vector<int32_t> AmongFirst(const LayerShapes& shapes, const StageLayers& stage,
                                size_t counted) {
  std::vector<int32_t> among_first = {0};
  among_first.reserve(static_cast<size_t>(stage.layer_count) + 1);
  ForEachRun(shapes, stage, [&](size_t shape, int64_t layers) {
    const int32_t step = shape == counted ? 1 : 0;
    for (int64_t i = 0; i < layers; ++i) among_first.push_back(among_first.back() + step);
  });
  return among_first;
}

// Returns the number of layers of each shape, however they are cut into chunks.
std::vector<int64_t> LayersByShape(const RankContents& rank, size_t shapes) {
  std::vector<int64_t> layers(shapes, 0);
  for (const HeldLayers& held : rank.layers) layers[held.shape] += held.layers * held.chunks;
  return layers;
}

// Returns whether a rank that keeps `a` is at least as full as one with the same contents that
// keeps `b`.
bool KeepsAsMuch(const RankInFlight& a, const RankInFlight& b) {
  if (a.contents != b.contents || a.head_in_flight < b.head_in_flight ||
      a.embedding_in_flight < b.embedding_in_flight) {
    return false;
  }
  return std::equal(a.in_flight.begin(), a.in_flight.end(), b.in_flight.begin(),
                    [](int64_t more, int64_t fewer) { return more >= fewer; });
}

}  // namespace

int64_t HeldLayers::Recomputed(const Layout& layout) const {
  if (among_first.empty() || layout.recompute != Recompute::kBlock) {
    return RecomputedLayers(layout, layers);
  }
  const auto first = std::min(static_cast<size_t>(layout.recompute_layers), among_first.size() - 1);
  return among_first[first];
}

PipelineContents::PipelineContents(const EstimateContext& context, const Layout& layout)
    : stages_(StagesOf(context.model, context.shapes, layout,
                       context.profile.supports.stage_partition)),
      entries_(stages_->stages.size()),
      shape_count_(context.shapes.size()),
      ends_share_rank_(EndsShareRank(layout)) {
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    RankContents contents = ContentsOf(context, layout, rank);
    const auto known = std::find_if(ranks_.begin(), ranks_.end(), [&](const RankContents& other) {
      return other.HoldsAs(contents);
    });
    by_rank_.push_back(static_cast<size_t>(known - ranks_.begin()));
    if (known == ranks_.end()) {
      ranks_.push_back(std::move(contents));
    } else {
      ++known->ranks;
    }
  }
  for (const StageLayers& stage : stages_->stages) {
    most_layers_ = std::max(most_layers_, stage.layer_count);
  }
}

RankContents PipelineContents::ContentsOf(const EstimateContext& context, const Layout& layout,
                                          int32_t rank) {
  RankContents contents = {.first_rank = rank, .ranks = 1, .layers = {}};
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const auto number = static_cast<size_t>(StageOfChunk(layout, rank, chunk));
    const StageLayers& stage = stages_->stages[number];
    const auto& shapes = stages_->shapes[number];
    for (const ShapeRun& held : shapes) {
      HeldLayers layers = {.shape = held.shape, .layers = held.layers};
      if (shapes.size() > 1) layers.among_first = AmongFirst(context.shapes, stage, held.shape);
      entries_[number].push_back(EntryOf(layers, contents.layers));
      ++contents.layers[entries_[number].back()].chunks;
    }
    contents.has_embedding |= stage.has_embedding;
    contents.has_head |= stage.has_head;
  }
  return contents;
}

RankInFlight PipelineContents::InFlight(const Layout& layout, int32_t rank,
                                        int64_t micro_batches) const {
  RankInFlight kept = {.contents = by_rank_[static_cast<size_t>(rank)], .in_flight = {}};
  kept.in_flight.assign(ranks_[kept.contents].layers.size(), 0);
  const ChunksInFlight chunks(layout, rank, micro_batches);
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    const int64_t in_flight = chunks.OfChunk(chunk);
    const auto stage = static_cast<size_t>(StageOfChunk(layout, rank, chunk));
    for (const size_t entry : entries_[stage]) kept.in_flight[entry] += in_flight;
    if (stages_->stages[stage].has_embedding) kept.embedding_in_flight += in_flight;
    if (stages_->stages[stage].has_head) kept.head_in_flight += in_flight;
  }
  return kept;
}

bool PipelineContents::HoldsAs(const PipelineContents& other) const {
  if (ranks_.size() != other.ranks_.size() || ends_share_rank_ != other.ends_share_rank_) {
    return false;
  }
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const RankContents& a = ranks_[i];
    const RankContents& b = other.ranks_[i];
    if (a.first_rank != b.first_rank || a.ranks != b.ranks || a.has_embedding != b.has_embedding ||
        a.has_head != b.has_head ||
        LayersByShape(a, shape_count_) != LayersByShape(b, shape_count_)) {
      return false;
    }
  }
  return true;
}

const std::vector<RankInFlight>& PipelineContents::Fullest(const Layout& layout,
                                                           int64_t micro_batches) {
  for (const KnownFullest& known : fullest_) {
    if (known.micro_batches == micro_batches) return known.ranks;
  }
  std::vector<RankInFlight> fullest;
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    RankInFlight kept = InFlight(layout, rank, micro_batches);
    const bool is_less_full =
        std::any_of(fullest.begin(), fullest.end(),
                    [&](const RankInFlight& other) { return KeepsAsMuch(other, kept); });
    if (!is_less_full) fullest.push_back(std::move(kept));
  }
  return fullest_.emplace_back(KnownFullest{micro_batches, std::move(fullest)}).ranks;
}

}  // namespace meshwright::planner

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
    if (entries[i].group == held.group && entries[i].layers == held.layers &&
        entries[i].among_first == held.among_first) {
      return i;
    }
  }
  entries.push_back(held);
  return entries.size() - 1;
}

// Returns an entry for each shape among the layers of one chunk. `shapes` are as
// PipelineContents::shapes_.
std::vector<HeldLayers> ShapesOf(const ModelSpec& model, const StageLayers& stage,
                                 const std::vector<size_t>& shapes) {
  std::vector<HeldLayers> held;
  ForEachGroup(model, stage, [&](size_t group, int64_t layers) {
    for (HeldLayers& other : held) {
      if (other.group != shapes[group]) continue;
      other.layers += layers;
      return;
    }
    held.push_back({.group = shapes[group], .layers = layers});
  });
  if (held.size() < 2) return held;
  for (HeldLayers& shape : held) {
    shape.among_first.push_back(0);
    ForEachGroup(model, stage, [&](size_t group, int64_t layers) {
      const int32_t step = shapes[group] == shape.group ? 1 : 0;
      for (int64_t i = 0; i < layers; ++i) {
        shape.among_first.push_back(shape.among_first.back() + step);
      }
    });
  }
  return held;
}

// Returns the number of layers of each group, however they are cut into chunks.
std::vector<int64_t> LayersByGroup(const RankContents& rank, size_t groups) {
  std::vector<int64_t> layers(groups, 0);
  for (const HeldLayers& held : rank.layers) layers[held.group] += held.layers * held.chunks;
  return layers;
}

// Returns whether a rank that keeps `a` is at least as full as one with the same contents that
// keeps `b`.
bool KeepsAsMuch(const RankInFlight& a, const RankInFlight& b) {
  if (a.contents != b.contents || a.head_in_flight < b.head_in_flight) return false;
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
    : context_(context),
      stages_(StagesOf(context.model, layout, context.profile.supports.stage_partition)),
      ends_share_rank_(EndsShareRank(layout)) {
  for (size_t group = 0; group < context.model.groups.size(); ++group) {
    shapes_.push_back(FirstGroupOfShape(context.model, group));
  }
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    RankContents contents = ContentsOf(layout, rank);
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

template <typename Visit>
void PipelineContents::ForEachChunk(const Layout& layout, int32_t rank, const Visit& visit) const {
  for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
    visit(stages_->stages[static_cast<size_t>(StageOfChunk(layout, rank, chunk))], chunk);
  }
}

RankContents PipelineContents::ContentsOf(const Layout& layout, int32_t rank) const {
  RankContents contents = {.first_rank = rank, .ranks = 1, .layers = {}};
  ForEachChunk(layout, rank, [&](const StageLayers& stage, int32_t) {
    for (const HeldLayers& held : ShapesOf(context_.model, stage, shapes_)) {
      ++contents.layers[EntryOf(held, contents.layers)].chunks;
    }
    contents.has_embedding |= stage.has_embedding;
    contents.has_head |= stage.has_head;
  });
  return contents;
}

RankInFlight PipelineContents::InFlight(const Layout& layout, int32_t rank,
                                        int64_t micro_batches) const {
  RankInFlight kept = {.contents = by_rank_[static_cast<size_t>(rank)], .in_flight = {}};
  std::vector<HeldLayers> entries = ranks_[kept.contents].layers;
  kept.in_flight.assign(entries.size(), 0);
  const ChunksInFlight chunks(layout, rank, micro_batches);
  ForEachChunk(layout, rank, [&](const StageLayers& stage, int32_t chunk) {
    const int64_t in_flight = chunks.OfChunk(chunk);
    for (const HeldLayers& held : ShapesOf(context_.model, stage, shapes_)) {
      kept.in_flight[EntryOf(held, entries)] += in_flight;
    }
    if (stage.has_head) kept.head_in_flight += in_flight;
  });
  return kept;
}

bool PipelineContents::HoldsAs(const PipelineContents& other) const {
  if (ranks_.size() != other.ranks_.size() || ends_share_rank_ != other.ends_share_rank_) {
    return false;
  }
  const size_t groups = context_.model.groups.size();
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const RankContents& a = ranks_[i];
    const RankContents& b = other.ranks_[i];
    if (a.first_rank != b.first_rank || a.ranks != b.ranks || a.has_embedding != b.has_embedding ||
        a.has_head != b.has_head || LayersByGroup(a, groups) != LayersByGroup(b, groups)) {
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

// PipelineContents lists what the ranks of a pipeline hold, independently of the bytes that it
// takes. Ranks with the same contents are one entry, and so are pipelines whose ranks hold the
// same, whatever their schedule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "planner/block/stage_partition.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Chunks with the same number of layers of the same shape.
struct HeldLayers {
  size_t group = 0;  // the model's first group with layers of this shape
  int64_t layers = 0;
  int64_t chunks = 0;

  friend bool operator==(const HeldLayers&, const HeldLayers&) = default;
};

// Ranks with the same contents.
struct RankContents {
  int32_t first_rank = 0;
  int32_t ranks = 0;
  std::vector<HeldLayers> layers;
  bool has_embedding = false;
  bool has_head = false;

  bool HoldsAs(const RankContents& other) const {
    return layers == other.layers && has_embedding == other.has_embedding &&
           has_head == other.has_head;
  }
};

// A rank that may be the fullest, and the micro-batches that it keeps at its peak.
struct RankInFlight {
  size_t contents = 0;             // index in PipelineContents::ranks()
  std::vector<int64_t> in_flight;  // by entry of its layers, over all of the entry's chunks
  int64_t head_in_flight = 0;      // of the chunk with the head
};

class PipelineContents {
 public:
  // Requires a layout whose stages CanPartition() accepts; only its pipeline matters.
  PipelineContents(const EstimateContext& context, const Layout& layout);

  const std::vector<RankContents>& ranks() const { return ranks_; }
  int64_t most_layers_of_a_chunk() const { return most_layers_; }

  // Returns whether every rank holds as much of everything as in `other`, however it is cut into
  // chunks, and both ends of the model share a rank in both or in neither.
  bool HoldsAs(const PipelineContents& other) const;

  // Returns a set of ranks that includes the fullest, whatever a layer takes: among ranks with the
  // same contents, one that keeps at least as many micro-batches of everything is at least as full.
  // The reference is valid until the next call.
  const std::vector<RankInFlight>& Fullest(const Layout& layout, int64_t micro_batches);

 private:
  struct KnownFullest {
    int64_t micro_batches = 0;
    std::vector<RankInFlight> ranks;
  };

  // Calls visit(stage, its chunk) for each chunk of the rank.
  template <typename Visit>
  void ForEachChunk(const Layout& layout, int32_t rank, const Visit& visit) const;
  RankContents ContentsOf(const Layout& layout, int32_t rank) const;
  RankInFlight InFlight(const Layout& layout, int32_t rank, int64_t micro_batches) const;

  const EstimateContext context_;
  const std::shared_ptr<const StageTable> stages_;
  std::vector<size_t> shapes_;  // by layer group, the first group with layers of the same shape
  std::vector<RankContents> ranks_;
  std::vector<size_t> by_rank_;  // the entry of each pipeline rank
  int64_t most_layers_ = 0;
  bool ends_share_rank_ = false;
  std::vector<KnownFullest> fullest_;
};

}  // namespace meshwright::planner

// PipelineContents lists what the ranks of a pipeline hold, in layers and chunks instead of bytes.
// Ranks with the same contents share one entry. HoldsAs() compares the contents of two pipelines,
// whatever their schedules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "planner/block/stage_partition.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Chunks with the same number of layers of the same shape.
struct HeldLayers {
  size_t shape = 0;    // an index into EstimateContext::shapes
  int64_t layers = 0;  // layers of this shape in each chunk
  int64_t chunks = 0;
  // For each N up to the layers of a chunk, how many of its first N layers have the shape. Empty if
  // all layers of the chunk have the shape.
  std::vector<int32_t> among_first = {};

  // Returns how many of a chunk's layers of this shape keep only their input.
  int64_t Recomputed(const Layout& layout) const;

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

// A rank that may be the fullest, and the number of micro-batches that it keeps at its peak.
struct RankInFlight {
  size_t contents = 0;              // index in PipelineContents::ranks()
  std::vector<int64_t> in_flight;   // micro-batches of each entry of RankContents::layers
  int64_t embedding_in_flight = 0;  // micro-batches of the chunk with the embedding and the towers
  int64_t head_in_flight = 0;       // micro-batches of the chunk with the head
};

class PipelineContents {
 public:
  // REQUIRES: CanPartition() accepts the layout's stages. Only the layout's pipeline matters.
  PipelineContents(const EstimateContext& context, const Layout& layout);

  const std::shared_ptr<const StageTable>& stages() const { return stages_; }
  const std::vector<RankContents>& ranks() const { return ranks_; }
  int64_t most_layers_of_a_chunk() const { return most_layers_; }

  // Returns whether each rank holds the same layers and the same ends of the model (embedding and
  // head) as in `other`. The layers may be cut into chunks differently. The two ends must share a
  // rank in both pipelines or in neither.
  bool HoldsAs(const PipelineContents& other) const;

  // Returns a set of ranks that includes the fullest rank, however many bytes a layer takes. A rank
  // is left out if another rank with the same contents keeps at least as many micro-batches of each
  // entry of these contents. The reference is valid until the next call.
  const std::vector<RankInFlight>& Fullest(const Layout& layout, int64_t micro_batches);

 private:
  struct KnownFullest {
    int64_t micro_batches = 0;
    std::vector<RankInFlight> ranks;
  };

  // Returns what the rank holds, and fills in entries_ of its stages.
  RankContents ContentsOf(const EstimateContext& context, const Layout& layout, int32_t rank);
  RankInFlight InFlight(const Layout& layout, int32_t rank, int64_t micro_batches) const;

  const std::shared_ptr<const StageTable> stages_;
  // For each stage, the entries of its rank's RankContents::layers that the stage's layers belong
  // to.
  std::vector<absl::InlinedVector<size_t, 4>> entries_;
  const size_t shape_count_;
  std::vector<RankContents> ranks_;
  std::vector<size_t> by_rank_;  // the index in ranks_ of each pipeline rank
  int64_t most_layers_ = 0;
  bool ends_share_rank_ = false;
  std::vector<KnownFullest> fullest_;
};

}  // namespace meshwright::planner

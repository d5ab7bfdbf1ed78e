// SearchSpace is the set of all combinations of the axes' values for a number of devices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "planner/layout/layout.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// The largest micro-batch of a search.
inline constexpr int64_t kMaxMicroBatch = 64;

// HSDP divides states in groups of kLeastShardRanks to kMostShardRanks ranks: a node, a few nodes,
// or a rack. Each size is at least kShardRanksStep times the next smaller size. In smaller groups
// each rank would keep most of the states. Larger groups are no faster than dividing states among
// all replicas, and sizes in between would change little.
inline constexpr int32_t kLeastShardRanks = 8;
inline constexpr int32_t kMostShardRanks = 128;
inline constexpr int32_t kShardRanksStep = 4;

// The largest number of layers by which the first and the last stage may be shorter than the
// others.
inline constexpr int64_t kMostFewerLayers = 2;

// The highest ZeRO stage.
inline constexpr int32_t kMostZero = 3;

// The recompute modes of a search, in the order of its points.
inline constexpr std::array kSearchedRecomputes = {Recompute::kNone, Recompute::kSelective,
                                                   Recompute::kFull};

// The schedule of a pipeline and its division into stages.
struct PipelineChoice {
  ScheduleKind schedule = ScheduleKind::k1f1b;
  int32_t vpp = 1;
  StageSplit stages;
};

// A way to divide states: the ZeRO stage and, for HSDP, hs=.
struct DividedStates {
  int32_t zero = 0;
  int32_t shard_ranks = 0;
};

// The values of each axis are:
//
//   tp, cp, pp    Divisors of the number of devices; dp takes what remains.
//   ep, etp       With experts, ep takes the common divisors of the number of experts and of a
//                 stage's ranks. etp is 1, or tp if ep * tp ranks can't hold whole experts.
//   micro-batch   Divisors of the sequences that each data-parallel rank gets, up to
//                 kMaxMicroBatch. Only 1 if dp does not divide the global batch.
//   recompute     kSearchedRecomputes. rc=block:N is not a point: the number of recomputed layers
//                 follows from the memory (planner/search/block_recompute.h).
//   vpp           Divisors of the number of layers, and of that number plus two (the embedding and
//                 the head).
//   schedule      1F1B with one chunk, interleaved with more; if the framework has them, also
//                 ZB-H1, ZB-V, and breadth-first with any of these numbers of chunks. Without a
//                 pipeline, breadth-first needs a framework that accumulates gradients layer by
//                 layer.
//   stages=       If the framework takes it, splits whose first and last stage are up to
//                 kMostFewerLayers shorter than the others, because the embedding and the head take
//                 time and memory of their own.
//   zero, hs=     Stages 0 to kMostZero. Under ZeRO, if the framework has HSDP and the model has no
//                 experts, also hs = cp times a smaller divisor of dp. The search drops such a
//                 layout if dividing states among all replicas fits and is no slower.
//   offload=      Nothing, or one of `offloads`.
class SearchSpace {
 public:
  SearchSpace(const ModelSpec& model, int64_t devices, int64_t global_batch,
              const FrameworkProfile& profile, const std::vector<Offload>& offloads = {});

  // The points of the space are those of its meshes, one mesh after another. The points of a mesh
  // are every combination of the following lists, the last of which varies fastest: pipelines,
  // micro-batches, offloads, without and with sequence parallelism, ways to divide states,
  // kSearchedRecomputes.
  size_t meshes() const { return meshes_.size(); }
  // Returns mesh `number`: its tp, cp, pp, dp, ep and etp, with the other axes at their defaults.
  const Layout& mesh(size_t number) const { return meshes_[number]; }
  const std::vector<PipelineChoice>& pipelines(const Layout& mesh) const {
    return pipelines_.at(mesh.pp);
  }
  const std::vector<int32_t>& micro_batches(const Layout& mesh) const {
    return micro_batches_.at(mesh.dp);
  }
  const std::vector<Offload>& offloads() const { return offloads_; }  // the empty offload is first
  // Returns the ways to divide states. At each ZeRO stage, division among all replicas comes before
  // division among a part of them (HSDP).
  std::vector<DividedStates> WaysToDivide(const Layout& mesh) const;

  // Calls visit(layout) for every point in the order above.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const Layout& mesh : meshes_) {
      Layout layout = mesh;
      const std::vector<DividedStates> ways = WaysToDivide(mesh);
      for (const PipelineChoice& pipeline : pipelines(mesh)) {
        layout.vpp = pipeline.vpp;
        layout.schedule = pipeline.schedule;
        layout.stages = pipeline.stages;
        for (const int32_t micro_batch : micro_batches(mesh)) {
          layout.micro_batch = micro_batch;
          for (const Offload& offload : offloads_) {
            layout.offload = offload;
            VisitModes(layout, ways, visit);
          }
        }
      }
    }
  }

  // Returns the number of points, without enumerating them.
  int64_t size() const;

 private:
  static std::vector<PipelineChoice> PipelinesOf(const ModelSpec& model,
                                                 const FrameworkProfile& profile, int32_t pp);

  template <typename Visit>
  static void VisitModes(Layout layout, const std::vector<DividedStates>& ways,
                         const Visit& visit) {
    for (const bool sequence_parallel : {false, true}) {
      layout.sequence_parallel = sequence_parallel;
      for (const DividedStates& way : ways) {
        layout.zero = way.zero;
        layout.shard_ranks = way.shard_ranks;
        for (const Recompute recompute : kSearchedRecomputes) {
          layout.recompute = recompute;
          visit(static_cast<const Layout&>(layout));
        }
      }
    }
  }

  // Returns the sizes of groups in which HSDP may divide states, except for the group of all
  // replicas.
  std::vector<int32_t> ShardGroupsOf(const Layout& mesh) const;

  const bool has_hsdp_;
  std::vector<Offload> offloads_{Offload()};
  std::vector<Layout> meshes_;
  std::map<int32_t, std::vector<int32_t>> micro_batches_;     // keyed by dp
  std::map<int32_t, std::vector<PipelineChoice>> pipelines_;  // keyed by pp
};

}  // namespace meshwright::planner

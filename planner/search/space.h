// The search space: every combination of the axes' values for a number of devices.
#pragma once

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

// The groups that HSDP divides states in: a node, a few of them, a rack. Smaller ones leave each
// rank most of the states, larger ones are no faster than all replicas, and sizes between those of
// the search would change little.
inline constexpr int32_t kLeastShardRanks = 8;
inline constexpr int32_t kMostShardRanks = 128;
inline constexpr int32_t kShardRanksStep = 4;

// By how many layers the first and the last stage may be shorter than the others.
inline constexpr int64_t kMostFewerLayers = 2;

// Every axis but dp takes divisors of the number of devices, and dp takes what remains.
// Micro-batches are the divisors of what the global batch leaves each data-parallel rank, up to
// kMaxMicroBatch; 1 where dp does not divide the batch. rc=block:N is not a point: how many layers
// to recompute follows from the memory (planner/search/block_recompute.h). vpp takes divisors of
// the number of layers, and of that number plus two (the embedding and the head). One chunk stands
// for 1F1B, more for the interleaved schedule. Where the framework takes stages=, splits are
// added whose first and last stage are up to kMostFewerLayers shorter than the others, for the
// embedding and the head take time and memory of their own. Under ZeRO, frameworks that have HSDP
// add hs = cp * smaller divisors of dp, from kLeastShardRanks to kMostShardRanks, each at least
// kShardRanksStep times the one before; the search drops those that are no faster than dividing
// among all replicas where that fits. Frameworks that have them add breadth-first with any number
// of chunks, ZB-H1 and ZB-V. Nothing is moved to the hosts but in the copies of the space that the
// caller asks for, one for each of `offloads`.
class SearchSpace {
 public:
  SearchSpace(const ModelSpec& model, int64_t devices, int64_t global_batch,
              const FrameworkProfile& profile, const std::vector<Offload>& offloads = {});

  // Calls visit(layout) for every point, in the same order each time. Points that differ in their
  // recompute alone follow each other: none, selective, full.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    ForEachWhile([&visit](const Layout& layout) {
      visit(layout);
      return true;
    });
  }

  // The same until visit(layout) returns false. Returns whether it never did.
  template <typename Visit>
  bool ForEachWhile(const Visit& visit) const {
    for (size_t mesh = 0; mesh < meshes_.size(); ++mesh) {
      if (!ForEachOfMeshWhile(mesh, visit)) return false;
    }
    return true;
  }

  // The points of the space are those of its meshes, from 0, one after the other.
  size_t meshes() const { return meshes_.size(); }
  template <typename Visit>
  bool ForEachOfMeshWhile(size_t mesh, const Visit& visit) const {
    Layout layout = meshes_[mesh];
    const std::vector<int32_t>& micro_batches = micro_batches_.at(layout.dp);
    const std::vector<int32_t> groups = ShardGroupsOf(layout);
    for (const Pipeline& pipeline : pipelines_.at(layout.pp)) {
      layout.vpp = pipeline.vpp;
      layout.schedule = pipeline.schedule;
      layout.stages = pipeline.stages;
      for (const int32_t micro_batch : micro_batches) {
        layout.micro_batch = micro_batch;
        for (const Offload& offload : offloads_) {
          layout.offload = offload;
          if (!VisitModes(layout, groups, visit)) return false;
        }
      }
    }
    return true;
  }

  // Returns the number of points, without enumerating them.
  int64_t size() const;

 private:
  // What a pipeline runs, and how its stages are cut.
  struct Pipeline {
    ScheduleKind schedule = ScheduleKind::k1f1b;
    int32_t vpp = 1;
    StageSplit stages;
  };

  static std::vector<Pipeline> PipelinesOf(const ModelSpec& model, const FrameworkProfile& profile,
                                           int32_t pp);

  template <typename Visit>
  static bool VisitModes(Layout layout, const std::vector<int32_t>& groups, const Visit& visit) {
    for (const bool sequence_parallel : {false, true}) {
      layout.sequence_parallel = sequence_parallel;
      for (int32_t zero = 0; zero <= 3; ++zero) {
        layout.zero = zero;
        layout.shard_ranks = 0;
        if (!VisitRecompute(layout, visit)) return false;
        if (zero == 0) continue;
        for (const int32_t ranks : groups) {
          layout.shard_ranks = ranks;
          if (!VisitRecompute(layout, visit)) return false;
        }
      }
    }
    return true;
  }

  template <typename Visit>
  static bool VisitRecompute(Layout layout, const Visit& visit) {
    for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
      layout.recompute = recompute;
      if (!visit(static_cast<const Layout&>(layout))) return false;
    }
    return true;
  }

  // The sizes of groups that HSDP may divide states in, all replicas together not among them.
  std::vector<int32_t> ShardGroupsOf(const Layout& mesh) const;

  const bool has_hsdp_;
  std::vector<Offload> offloads_{Offload()};  // that which moves nothing comes first
  std::vector<Layout> meshes_;                // every (tp, cp, pp, dp), the rest at its default
  std::map<int32_t, std::vector<int32_t>> micro_batches_;  // by dp
  std::map<int32_t, std::vector<Pipeline>> pipelines_;     // by pp
};

}  // namespace meshwright::planner

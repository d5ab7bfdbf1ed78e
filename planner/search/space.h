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

// Every axis but dp takes divisors of the number of devices, and dp takes what remains.
// Micro-batches are the divisors of what the global batch leaves each data-parallel rank, up to
// kMaxMicroBatch; 1 where dp does not divide the batch. rc=block:N is not a point: how many layers
// to recompute follows from the memory (planner/search/block_recompute.h). vpp takes divisors of
// the number of layers, and of that number plus two (the embedding and the head). One chunk stands
// for 1F1B, more for the interleaved schedule. Frameworks that have them add breadth-first with any
// number of chunks, ZB-H1 and ZB-V.
class SearchSpace {
 public:
  SearchSpace(const ModelSpec& model, int64_t devices, int64_t global_batch,
              const FrameworkProfile& profile);

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
    for (const Layout& mesh : meshes_) {
      Layout layout = mesh;
      const std::vector<int32_t>& micro_batches = micro_batches_.at(mesh.dp);
      for (const auto& [schedule, vpp] : schedules_) {
        if (!HasUse(mesh, schedule)) continue;
        layout.vpp = vpp;
        layout.schedule = schedule;
        for (const int32_t micro_batch : micro_batches) {
          layout.micro_batch = micro_batch;
          if (!VisitModes(layout, visit)) return false;
        }
      }
    }
    return true;
  }

  // Returns the number of points, without enumerating them.
  int64_t size() const;

 private:
  // Zero-bubble schedules and breadth-first are for pipelines: with pp 1 they equal 1F1B.
  static bool HasUse(const Layout& mesh, ScheduleKind schedule) {
    return mesh.pp > 1 || schedule == ScheduleKind::k1f1b || schedule == ScheduleKind::kInterleaved;
  }

  template <typename Visit>
  static bool VisitModes(Layout layout, const Visit& visit) {
    for (const bool sequence_parallel : {false, true}) {
      layout.sequence_parallel = sequence_parallel;
      for (int32_t zero = 0; zero <= 3; ++zero) {
        layout.zero = zero;
        for (const Recompute recompute :
             {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
          layout.recompute = recompute;
          if (!visit(static_cast<const Layout&>(layout))) return false;
        }
      }
    }
    return true;
  }

  std::vector<Layout> meshes_;  // every (tp, cp, pp, dp), the rest at its default
  std::map<int32_t, std::vector<int32_t>> micro_batches_;    // by dp
  std::vector<std::pair<ScheduleKind, int32_t>> schedules_;  // with chunks per pipeline rank
};

}  // namespace meshwright::planner

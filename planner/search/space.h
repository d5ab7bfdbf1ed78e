// The search space: the full cross product of all axes for a number of devices.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/layout/layout.h"
#include "planner/spec/model_spec.h"

namespace meshwright {

// tp, cp and pp are divisors of the devices and dp is what remains; micro-batches are powers of two
// up to 64 and the global batch; vpp are divisors of the layers. Two chunks and more mean the
// interleaved schedule.
class SearchSpace {
 public:
  SearchSpace(const ModelSpec& model, int64_t devices, int64_t global_batch);

  // Calls visit(layout) for every point, in the same order each time.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const Layout& mesh : meshes_) {
      Layout layout = mesh;
      for (const int32_t vpp : chunks_) {
        layout.vpp = vpp;
        layout.schedule = vpp == 1 ? ScheduleKind::k1f1b : ScheduleKind::kInterleaved;
        for (const int32_t micro_batch : micro_batches_) {
          layout.micro_batch = micro_batch;
          VisitModes(layout, visit);
        }
      }
    }
  }

  int64_t size() const;

 private:
  template <typename Visit>
  static void VisitModes(Layout layout, const Visit& visit) {
    for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
      layout.recompute = recompute;
      for (const bool sequence_parallel : {false, true}) {
        layout.sequence_parallel = sequence_parallel;
        for (int32_t zero = 0; zero <= 3; ++zero) {
          layout.zero = zero;
          visit(static_cast<const Layout&>(layout));
        }
      }
    }
  }

  std::vector<Layout> meshes_;  // every (tp, cp, pp, dp), the rest at its default
  std::vector<int32_t> micro_batches_;
  std::vector<int32_t> chunks_;
};

}  // namespace meshwright

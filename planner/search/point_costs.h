// Computes memory and time of one layout of a search, only as precisely as the search needs to
// decide about the layout. StagedCosts shares the computation among many layouts. PlannedCosts
// computes each layout by itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "planner/estimate/estimate.h"
#include "planner/estimate/staged_estimate.h"
#include "planner/memory/rank_memory.h"
#include "planner/search/block_recompute.h"

namespace meshwright::planner {

// The relative error of an MFU that a search allows for. It is far larger than the actual error of
// StagedEstimate (kStagedError).
inline constexpr double kMfuSlack = 1e-9;

struct MfuRange {
  double least = 0.0;
  double most = 0.0;
};

// Returns the MFU that a layout would have if it filled none of its device's memory.
inline double MostMfuOf(const EstimateContext& context, const Layout& layout) {
  return EstimateLayout(PlannedLayout(context, layout), MemoryEstimate()).mfu;
}

// The costs of `layout`, which belongs to the mesh and cell that `staged` has entered. `way` is the
// index of the layout's way to divide states. All arguments must outlive the object.
class StagedCosts {
 public:
  static constexpr bool kIsSlow = false;  // whether the costs of a layout take milliseconds
  StagedCosts(StagedEstimate& staged, const Layout& layout, size_t way, const ClusterSpec& cluster)
      : staged_(&staged), layout_(&layout), way_(way), cluster_(&cluster) {}

  // Returns the costs of `layout`, which may differ from the object's own layout only in recompute.
  StagedCosts Of(const Layout& layout) const { return {*staged_, layout, way_, *cluster_}; }

  // Returns a lower bound of the memory. The bound exceeds the allowed bytes if and only if the
  // memory does.
  int64_t LeastBytes() const { return staged_->MemoryBytes(*layout_, way_); }
  // Returns the MFU that the layout would have if it filled none of the device's memory.
  double MostMfu() const { return MfuOf(0.0); }
  // Returns the range of the MFU if at least `least_bytes` are filled.
  MfuRange MfuAt(int64_t least_bytes) const {
    const double mfu = MfuOf(static_cast<double>(least_bytes) /
                             static_cast<double>(cluster_->device.memory_bytes));
    return {.least = (1.0 - kMfuSlack) * mfu, .most = (1.0 + kMfuSlack) * mfu};
  }
  int64_t MostLayersOfAChunk() const { return staged_->MostLayersOfAChunk(); }

 private:
  double MfuOf(double fraction_of_device) const {
    return staged_->MfuOf(staged_->StepSeconds(*layout_, way_, fraction_of_device));
  }

  StagedEstimate* staged_;
  const Layout* layout_;
  size_t way_;
  const ClusterSpec* cluster_;
};

// The costs of a layout by itself. The full memory estimate is the slowest part, so it runs only if
// bounds of the memory don't decide whether the layout fits.
class PlannedCosts {
 public:
  static constexpr bool kIsSlow = true;
  PlannedCosts(const EstimateContext& context, const Layout& layout, int64_t allowed_bytes)
      : planned_(context, layout), allowed_bytes_(allowed_bytes) {}

  PlannedCosts Of(const Layout& layout) const {
    return {planned_.context(), layout, allowed_bytes_};
  }

  int64_t LeastBytes() const { return BoundMemoryAgainst(planned_, allowed_bytes_); }
  double MostMfu() const { return EstimateLayout(planned_, MemoryEstimate()).mfu; }
  // The bytes may exceed `least_bytes` by any amount, so the lower end is 0.
  MfuRange MfuAt(int64_t /*least_bytes*/) const {
    return {.least = 0.0, .most = (1.0 + kMfuSlack) * MostMfu()};
  }
  int64_t MostLayersOfAChunk() const { return meshwright::planner::MostLayersOfAChunk(planned_); }

 private:
  const PlannedLayout planned_;
  int64_t allowed_bytes_;
};

}  // namespace meshwright::planner

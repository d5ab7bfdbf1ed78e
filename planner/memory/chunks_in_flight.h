// Counts what a pipeline rank keeps at its peak: the micro-batches of each of its chunks, and the
// layers of a chunk that are recomputed as a whole or kept on the host.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "planner/layout/layout.h"
#include "planner/schedule/closed_forms.h"
#include "planner/schedule/v_half_block.h"

namespace meshwright::planner {

// ChunksInFlight counts the micro-batches of each chunk that a rank holds at its peak. Over all
// chunks they add up to PeakChunksInFlight().
class ChunksInFlight {
 public:
  ChunksInFlight(const Layout& layout, int32_t rank, int64_t micro_batches)
      : schedule_(layout.schedule),
        p_(layout.pp),
        all_(PeakChunksInFlight(layout, rank, micro_batches)),
        second_arm_(IsV(schedule_) && schedule_ != ScheduleKind::kZbV
                        ? BlockOf(layout, rank).MostInFlight(micro_batches)[1]
                        : std::min<int64_t>(micro_batches, rank + 1)) {
    // Warm-up takes p micro-batches through one chunk, then through the next.
    const int64_t round = schedule_ == ScheduleKind::kInterleaved ? p_ * layout.vpp : layout.vpp;
    rounds_ = all_ / round;
    left_ = all_ - rounds_ * round;
  }

  int64_t OfChunk(int32_t chunk) const {
    switch (schedule_) {
      case ScheduleKind::kZbV:
      case ScheduleKind::kVHalf:
      case ScheduleKind::kVHalfVocab1:
        return chunk == 1 ? second_arm_ : all_ - second_arm_;
      case ScheduleKind::kInterleaved:
        return rounds_ * p_ + std::clamp<int64_t>(left_ - chunk * p_, 0, p_);
      default:
        return rounds_;
    }
  }

 private:
  ScheduleKind schedule_;
  int64_t p_;
  int64_t all_;
  int64_t second_arm_;
  int64_t rounds_;
  int64_t left_;
};

// Returns how many of `layers` layers keep only their input. The layers are a whole chunk, or the
// multi-token-prediction layers, and have one shape.
inline int64_t RecomputedLayers(const Layout& layout, int64_t layers) {
  if (layout.recompute == Recompute::kFull) return layers;
  if (layout.recompute != Recompute::kBlock) return 0;
  return std::min<int64_t>(layout.recompute_layers, layers);
}

// FirstLayers counts off the first layers of one chunk. Callers ask for the layers of the chunk in
// order, one group of layers after another.
class FirstLayers {
 public:
  explicit FirstLayers(int64_t count) : left_(count) {}
  // The layers whose activations move to the host.
  static FirstLayers Offloaded(const Layout& layout) {
    return FirstLayers(layout.offload.activation_layers);
  }
  // The layers that keep only their input.
  static FirstLayers Recomputed(const Layout& layout) {
    return FirstLayers(RecomputedLayers(layout, std::numeric_limits<int64_t>::max()));
  }

  // Returns how many of the chunk's next `layers` layers are still among the counted first layers.
  int64_t Of(int64_t layers) {
    const int64_t taken = std::min(left_, layers);
    left_ -= taken;
    return taken;
  }

 private:
  int64_t left_;
};

}  // namespace meshwright::planner

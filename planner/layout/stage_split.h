// StageSplit is the number of layers of each virtual stage of a pipeline, in order. It is the value
// of stages= in a layout's text. "1+30x2+0" means 32 stages: the first has one layer, the next
// thirty have two each, and the last has none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace meshwright::planner {

// Neighbouring stages with the same number of layers.
struct StageRun {
  uint16_t stages = 0;
  uint16_t layers = 0;  // layers of each stage

  friend bool operator==(const StageRun&, const StageRun&) = default;
};

// An empty split leaves the stages to the framework. Equal splits compare equal however they were
// written. The object is small, because every layout of a search has one.
class StageSplit {
 public:
  static constexpr size_t kMaxRuns = 6;
  static constexpr int64_t kMostStages = UINT16_MAX;
  static constexpr int64_t kMostLayers = UINT16_MAX;

  bool empty() const { return count_ == 0; }
  absl::Span<const StageRun> runs() const { return {runs_.data(), count_}; }

  // Appends `stages` stages of `layers` layers each. `stages` may be 0. Returns false and changes
  // nothing if the split would exceed kMaxRuns, kMostStages or kMostLayers.
  bool Add(int64_t stages, int64_t layers);

  int64_t stages() const;
  int64_t layers() const;
  int64_t LayersOf(int64_t stage) const;      // REQUIRES: 0 <= stage < stages()
  int64_t LayersBefore(int64_t stage) const;  // REQUIRES: 0 <= stage <= stages()

  friend bool operator==(const StageSplit&, const StageSplit&) = default;

 private:
  std::array<StageRun, kMaxRuns> runs_{};
  uint32_t count_ = 0;
};

std::string FormatStageSplit(const StageSplit& split);

// Returns a split into `stages` stages of the same number of layers. If the layers do not divide
// evenly, the ends, which also have embedding and head, are shorter. The missing layers are taken
// alternately from the last and the first stage, at most two from each. Further missing layers are
// taken from the stages before the last, one from each. Returns an empty split if a stage between
// the ends would have no layers.
// REQUIRES: stages >= 2.
StageSplit SplitWithShortEnds(int64_t layers, int64_t stages);

// Returns the split of a text, in which + joins the numbers of layers. "30x2" stands for 30 stages
// of two layers each. Returns InvalidArgument, which says what would be accepted, if the text is
// wrong.
absl::StatusOr<StageSplit> ParseStageSplit(std::string_view text);

}  // namespace meshwright::planner

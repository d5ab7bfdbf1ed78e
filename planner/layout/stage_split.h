// How many layers each virtual stage of a pipeline holds, in order: the value of stages= in a
// layout's text. "1+30x2+0" is 32 stages: one layer, two layers thirty times, and the last one
// none.
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
  uint16_t layers = 0;  // of each of them

  friend bool operator==(const StageRun&, const StageRun&) = default;
};

// A small value: layouts carry one through a search. Equal splits compare equal however they were
// written. An empty one leaves the stages to the framework.
class StageSplit {
 public:
  static constexpr size_t kMaxRuns = 6;
  static constexpr int64_t kMostStages = UINT16_MAX;
  static constexpr int64_t kMostLayers = UINT16_MAX;

  bool empty() const { return count_ == 0; }
  absl::Span<const StageRun> runs() const { return {runs_.data(), count_}; }

  // Appends `stages` stages of `layers` layers each; none where `stages` is 0. Returns false, and
  // leaves the split as it was, where it would pass kMaxRuns, kMostStages or kMostLayers.
  bool Add(int64_t stages, int64_t layers);

  int64_t stages() const;
  int64_t layers() const;
  int64_t LayersOf(int64_t stage) const;      // Requires 0 <= stage < stages().
  int64_t LayersBefore(int64_t stage) const;  // Requires 0 <= stage <= stages().

  friend bool operator==(const StageSplit&, const StageSplit&) = default;

 private:
  std::array<StageRun, kMaxRuns> runs_{};
  uint32_t count_ = 0;
};

std::string FormatStageSplit(const StageSplit& split);

// Returns as many layers for each of `stages` stages, but for the ends, which have embedding and
// head and fewer layers where these do not divide. What is missing is taken from the last and the
// first in turn, at most two layers from each, then one each from the stages before the last. Empty
// where a stage between the ends would have no layers. Requires 2 or more stages.
StageSplit SplitWithShortEnds(int64_t layers, int64_t stages);

// Reads a sum of counts of layers, each with how many stages hold as many before an x where these
// are several. InvalidArgument says what would be accepted.
absl::StatusOr<StageSplit> ParseStageSplit(std::string_view text);

}  // namespace meshwright::planner

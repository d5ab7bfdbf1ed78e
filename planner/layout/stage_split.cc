#include "planner/layout/stage_split.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kMostFewerAtEnds = 2;

absl::Status SplitError(std::string_view text) {
  return FieldError("stages", text,
                    absl::StrCat("must be layers per stage in order, such as 7+14x8+7, of at most ",
                                 StageSplit::kMaxRuns, " runs and ", StageSplit::kMostStages,
                                 " stages and layers"));
}

// Reads "2" or "30x2".
bool AddRun(absl::string_view text, StageSplit& split) {
  const size_t times = text.find('x');
  int64_t stages = 1;
  int64_t layers = 0;
  if (times != absl::string_view::npos &&
      (!absl::SimpleAtoi(text.substr(0, times), &stages) || stages < 1)) {
    return false;
  }
  const absl::string_view count = times == absl::string_view::npos ? text : text.substr(times + 1);
  return absl::SimpleAtoi(count, &layers) && split.Add(stages, layers);
}

}  // namespace

bool StageSplit::Add(int64_t stages, int64_t layers) {
  if (stages == 0) return true;
  if (stages < 0 || stages > kMostStages - this->stages()) return false;
  if (layers < 0 || layers > (kMostLayers - this->layers()) / stages) return false;
  if (count_ > 0 && runs_[count_ - 1].layers == layers) {
    runs_[count_ - 1].stages = static_cast<uint16_t>(runs_[count_ - 1].stages + stages);
    return true;
  }
  if (count_ == kMaxRuns) return false;
  runs_[count_++] = {static_cast<uint16_t>(stages), static_cast<uint16_t>(layers)};
  return true;
}

int64_t StageSplit::stages() const {
  int64_t stages = 0;
  for (const StageRun& run : runs()) stages += run.stages;
  return stages;
}

int64_t StageSplit::layers() const { return LayersBefore(stages()); }

int64_t StageSplit::LayersOf(int64_t stage) const {
  for (const StageRun& run : runs()) {
    if (stage < run.stages) return run.layers;
    stage -= run.stages;
  }
  return 0;
}

int64_t StageSplit::LayersBefore(int64_t stage) const {
  int64_t layers = 0;
  for (const StageRun& run : runs()) {
    const int64_t counted = std::min<int64_t>(stage, run.stages);
    layers += counted * run.layers;
    stage -= counted;
  }
  return layers;
}

std::string FormatStageSplit(const StageSplit& split) {
  return absl::StrJoin(split.runs(), "+", [](std::string* text, const StageRun& run) {
    if (run.stages > 1) absl::StrAppend(text, run.stages, "x");
    absl::StrAppend(text, run.layers);
  });
}

StageSplit SplitWithShortEnds(int64_t layers, int64_t stages) {
  const int64_t each = (layers + stages - 1) / stages;
  const int64_t missing = each * stages - layers;
  const int64_t of_ends = std::min({missing, kMostFewerAtEnds * 2, each * 2});
  const int64_t last = (of_ends + 1) / 2;
  const int64_t first = of_ends / 2;
  const int64_t shorter = missing - of_ends;
  const bool leaves_one_empty = each < 1 || (shorter > 0 && each < 2);
  StageSplit split;
  if (leaves_one_empty || shorter > stages - 2 || !split.Add(1, each - first) ||
      !split.Add(stages - 2 - shorter, each) || !split.Add(shorter, each - 1) ||
      !split.Add(1, each - last)) {
    return {};
  }
  return split;
}

absl::StatusOr<StageSplit> ParseStageSplit(std::string_view text) {
  StageSplit split;
  for (const absl::string_view run : absl::StrSplit(AbslView(text), '+')) {
    if (!AddRun(run, split)) return SplitError(text);
  }
  return split;
}

}  // namespace meshwright::planner

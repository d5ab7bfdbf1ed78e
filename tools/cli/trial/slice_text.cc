#include "tools/cli/trial/slice_text.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/common/utilisation_text.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

// Returns "0", "1 to 6", "1, 3, 5".
std::string RankList(const std::vector<int32_t>& ranks) {
  const int32_t first = ranks.front();
  const int32_t last = ranks.back();
  const bool consecutive = last - first + 1 == static_cast<int32_t>(ranks.size());
  if (consecutive && ranks.size() > 2) return absl::StrCat(first, " to ", last);
  std::string list;
  for (const int32_t rank : ranks) absl::StrAppend(&list, list.empty() ? "" : ", ", rank);
  return list;
}

void PrintParts(const trial::SliceResult& slice, std::ostream& out) {
  const std::string modelled = "modelled: " + slice.cluster;
  Table table({"part", "seconds", "share", "from"});
  const auto add = [&](std::string_view name, double seconds, const std::string& from) {
    const double step_s = slice.step.step_s();
    table.Add({std::string(name), absl::StrFormat("%.6f", seconds),
               FormatPercent(step_s > 0.0 ? seconds / step_s : 0.0), from});
  };
  const auto add_all = [&](const auto& parts, const std::string& from) {
    for (const planner::TimePart part : parts) {
      add(planner::PartName(part), slice.step[part], from);
    }
  };
  add_all(planner::kMeasuredParts, "measured");
  add_all(planner::kModelledParts, modelled);
  if (slice.step[planner::TimePart::kEp] > 0.0) {
    add(planner::PartName(planner::TimePart::kEp), slice.step[planner::TimePart::kEp], modelled);
  }
  add_all(planner::kSimulatedParts, "simulated from the parts above");
  add("step", slice.step.step_s(), "composed");
  out << "\nthe step of the rank that ends last:\n";
  table.Print(out);
}

void PrintStages(const trial::SliceResult& slice, std::ostream& out) {
  Table table({"pipeline ranks", "measured on", "forward", "backward", "optimizer",
               "peak bytes measured", "estimated"});
  for (const trial::SliceStage& stage : slice.stages) {
    double forward_s = 0.0;
    double backward_s = 0.0;
    for (const trial::SliceAction& action : stage.actions) {
      (action.kind == planner::ActionKind::kForward ? forward_s : backward_s) +=
          action.part[planner::TimePart::kCompute];
    }
    table.Add({RankList(stage.pipeline_ranks), std::to_string(stage.measured_rank),
               FormatSeconds(forward_s), FormatSeconds(backward_s),
               FormatSeconds(stage.optimizer_s), FormatCount(stage.peak_bytes),
               FormatCount(stage.estimated_bytes)});
  }
  out << "\nmeasured per stage, one micro-batch in all chunks without communication:\n";
  table.Print(out);
}

void PrintCharges(const trial::SliceResult& slice, std::ostream& out) {
  if (slice.charged.empty()) return;
  Table table({"pipeline rank", "group", "operation", "ranks", "bytes", "calls", "each"});
  for (const trial::ChargedOperation& operation : slice.charged) {
    table.Add({std::to_string(operation.measured_rank), operation.group,
               std::string(planner::CollectiveKindName(operation.operation)),
               FormatCount(operation.ranks), FormatCount(operation.bytes),
               absl::StrFormat("%.4g", operation.calls), FormatSeconds(operation.seconds)});
  }
  out << "\ncharged from the model of " << slice.cluster
      << ", operations of a step (computation may hide them):\n";
  table.Print(out);
}

}  // namespace

void PrintSlice(const planner::Layout& layout, const planner::Estimate& predicted,
                std::string_view cluster, const trial::TrialResult& result, std::ostream& out) {
  const trial::SliceResult& slice = *result.slice;
  out << planner::FormatLayout(layout) << ": " << trial::TrialOutcomeName(result.outcome) << ", "
      << FormatCount(layout.devices()) << " ranks from " << slice.stages.size()
      << (slice.stages.size() == 1 ? " slice" : " slices") << " on one device\n";
  Table steps({"", "composed", "predicted"});
  steps.Add({"step time", FormatSeconds(result.step_s), FormatSeconds(predicted.time.step_s())});
  AddUtilisationRows(result, predicted, steps);
  steps.Print(out);
  PrintPeak(result, cluster, out);
  PrintParts(slice, out);
  PrintStages(slice, out);
  PrintCharges(slice, out);
}

}  // namespace meshwright::cli

#include "tools/cli/slice_text.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/text.h"

namespace meshwright {
namespace {

// 3, or 1-6 where the list has no gap, or 1, 2, ...
std::string RanksText(const std::vector<int32_t>& ranks) {
  const int32_t span = ranks.back() - ranks.front();
  if (span + 1 == static_cast<int32_t>(ranks.size()) && span > 0) {
    return absl::StrCat(ranks.front(), "-", ranks.back());
  }
  std::string text;
  for (const int32_t rank : ranks) absl::StrAppend(&text, text.empty() ? "" : ",", rank);
  return text;
}

void PrintParts(const SliceResult& result, const TimeEstimate& predicted, std::ostream& out) {
  const ComposedStep& step = result.step;
  Table table({"of a step", "seconds", "predicted", ""});
  const auto add = [&](const char* name, double seconds, double expected, const char* how) {
    table.Add({name, FormatSeconds(seconds), FormatSeconds(expected), how});
  };
  add("compute", step.compute_s, predicted.compute_s + predicted.recompute_s, "measured");
  add("optimizer", step.optimizer_s, predicted.optimizer_s, "measured");
  add("tensor parallel", step.tp_s, predicted.tp_s, "modelled");
  add("context parallel", step.cp_s, predicted.cp_s, "modelled");
  add("bubble and hops", step.bubble_s, predicted.bubble_s + predicted.pp_s, "simulated");
  add("data parallel", step.dp_s, predicted.dp_s, "modelled");
  add("stragglers", step.straggler_s, predicted.straggler_s, "modelled");
  table.Print(out);
}

void PrintStages(const SliceResult& result, std::ostream& out) {
  Table table(
      {"pipeline ranks", "forward", "backward", "optimizer", "peak bytes measured", "estimated"});
  for (const SliceStage& stage : result.stages) {
    StageDurations all;
    for (const MeasuredStage& chunk : stage.chunks) {
      all.forward_s += chunk.compute.forward_s;
      all.input_gradient_s += chunk.compute.backward_s();
    }
    table.Add({RanksText(stage.stands_for), FormatSeconds(all.forward_s),
               FormatSeconds(all.backward_s()), FormatSeconds(stage.optimizer_s),
               FormatCount(stage.peak_bytes), FormatCount(stage.estimated_bytes)});
  }
  out << "\nmeasured on one device, one micro-batch (peak bytes of the first of the ranks):\n";
  table.Print(out);
}

}  // namespace

void PrintSlice(const Layout& layout, const Estimate& predicted, const SliceResult& result,
                std::ostream& out) {
  out << FormatLayout(layout) << " on " << layout.devices()
      << " devices, from slices: " << OutcomeName(result.outcome) << "\n";
  if (!result.message.empty()) out << result.message << "\n";
  if (result.outcome != Outcome::kOk) return;
  Table steps({"", "from slices", "predicted"});
  steps.Add(
      {"step time", FormatSeconds(result.step.step_s), FormatSeconds(predicted.time.step_s())});
  steps.Add({"MFU (PaLM)", FormatPercent(result.mfu), FormatPercent(predicted.mfu)});
  steps.Print(out);
  out << absl::StrFormat("measured peak of the device: %.1f GFLOP/s\n\n",
                         result.measured_peak_flops / 1e9);
  PrintParts(result, predicted.time, out);
  PrintStages(result, out);
}

}  // namespace meshwright

#include "tools/cli/plan/estimate_text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/common/legend.h"
#include "tools/cli/io/folded_text.h"
#include "tools/cli/io/prose.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"
#include "tools/cli/plan/planner_text.h"

namespace meshwright::cli {
namespace {

void PrintStages(const planner::EstimateAnswer& answer, std::ostream& out) {
  out << "memory of one device by pipeline rank, GiB (*: the fullest):\n";
  std::vector<std::string> header = {"  rank"};
  const std::vector<planner::MemoryPart> parts = planner::ShownParts(answer.estimate);
  for (const planner::MemoryPart part : parts) header.emplace_back(planner::PartName(part));
  header.insert(header.end(), {"total", "of device"});
  Table table(std::move(header));
  for (const planner::StageMemory& stage : answer.explanation.stages) {
    const int32_t rank = stage.memory.pipeline_rank;
    const bool binds = rank == answer.estimate.memory.pipeline_rank;
    std::vector<std::string> row = {(binds ? "* " : "  ") + std::to_string(rank)};
    for (const planner::MemoryPart part : parts) {
      row.push_back(FormatGib(planner::PartBytes(stage.memory, part)));
    }
    row.push_back(FormatGib(stage.memory.total_bytes()));
    row.push_back(FormatPercent(stage.fraction_of_device));
    table.Add(std::move(row));
  }
  table.Print(out);
}

void PrintFit(const planner::EstimateAnswer& answer, const TextStyle& style, std::ostream& out) {
  const planner::Estimate& e = answer.estimate;
  out << "  " << planner::MemorySentence(e) << "\n";
  const int64_t spare = answer.allowed_bytes - e.memory.total_bytes();
  out << "  " << FormatPercent(e.fraction_of_device) << " of the device: "
      << (answer.fits() ? "fits under the 80 % rule with " : "over the 80 % rule by ")
      << FormatBytes(std::abs(spare)) << (answer.fits() ? " to spare" : "")
      << "; probability of running out of memory " << FormatPercent(e.oom_probability)
      << "\n  runs likely peak at " << FormatBytes(e.peak_low_bytes) << " to "
      << FormatBytes(e.peak_high_bytes) << " (80 % interval)\n";
  const planner::Explanation& why = answer.explanation;
  if (why.experts) out << "  " << why.experts->sentence << "\n";
  if (why.latent_attention) out << "  " << why.latent_attention->sentence << "\n";
  if (why.offload) out << "  " << why.offload->sentence << "\n";
  const std::string change = planner::ChangeSentence(answer.ranked(), why, style.whole_layouts);
  if (!change.empty()) out << "  " << change << "\n";
  if (why.other_imbalance) out << "  " << why.other_imbalance->sentence << "\n";
}

void PrintTimeTable(const planner::RankedLayout& ranked, std::ostream& out) {
  const planner::Estimate& e = ranked.estimate;
  const double step_s = e.time.step_s();
  out << "time of one step:\n";
  Table table({"  part", "seconds", "share"});
  const auto add = [&](std::string_view name, double seconds) {
    table.Add({"  " + std::string(name), absl::StrFormat("%.6f", seconds),
               FormatPercent(seconds / step_s)});
  };
  for (const planner::TimePart part : planner::kTimeParts)
    add(planner::PartName(part), e.time[part]);
  add("step", step_s);
  table.Print(out);
  out << "  " << planner::TimeSentence(ranked) << "\n";
  if (e.step_high_s > e.step_low_s) {
    out << "  runs likely take " << FormatSeconds(e.step_low_s) << " to "
        << FormatSeconds(e.step_high_s) << " a step (80 % interval)\n";
  }
}

std::string ParametersText(const planner::EstimateAnswer& answer) {
  return absl::StrCat(FormatParameters(answer.parameters_per_gpu),
                      " parameters on the fullest GPU (divided by tp, pp and ep, not by ZeRO)");
}

void PrintDetails(const planner::PlanQuery& query, const planner::EstimateAnswer& answer,
                  const TextStyle& style, std::ostream& out) {
  const planner::Estimate& e = answer.estimate;
  PrintHeadline(query, answer.counts, out);
  PrintNotes(answer.rests_on, answer.notes, style, out);
  out << LayoutText(answer.layout, style) << ", " << ParametersText(answer) << "; "
      << FormatCount(answer.micro_batches)
      << (answer.micro_batches == 1 ? " micro-batch" : " micro-batches") << " a step on each rank, "
      << FormatCount(answer.tokens_per_step) << " tokens a step\n\n";
  PrintStages(answer, out);
  PrintFit(answer, style, out);
  out << "\n";
  PrintTimeTable(answer.ranked(), out);
  out << absl::StrFormat(
      "\npredicted MFU %s (PaLM), %s (causal); per GPU %.1f TFLOP/s (PaLM), %.1f (causal) and %s "
      "tokens/s; %s tokens/s in all\n",
      FormatPercent(e.mfu), FormatPercent(e.mfu_causal), e.tflops_per_gpu, e.tflops_per_gpu_causal,
      FormatCount(static_cast<int64_t>(e.tokens_per_s_per_gpu)),
      FormatCount(static_cast<int64_t>(e.tokens_per_s)));
}

// Returns the memory of a device.
int64_t DeviceBytes(const planner::Estimate& e) {
  return std::llround(static_cast<double>(e.memory.total_bytes()) / e.fraction_of_device);
}

// Returns "With tp2.dp32.zero1.sp1, a step of llama-3-8b takes 3.55 s …", or that it does not fit.
std::string VerdictSentence(const planner::PlanQuery& query, const planner::EstimateAnswer& answer,
                            const TextStyle& style) {
  const planner::Estimate& e = answer.estimate;
  const std::string need = absl::StrCat(
      FormatGib(e.memory.total_bytes()), " GiB on the fullest device, ",
      FormatPercent(e.fraction_of_device), " of its ", FormatGib(DeviceBytes(e)),
      " GiB; a layout fits if it fills at most 80 % (", FormatGib(answer.allowed_bytes),
      " GiB). P(OOM) is ", FormatPercent(e.oom_probability), ".");
  const std::string layout = LayoutText(answer.layout, style);
  if (answer.fits()) {
    return absl::StrCat(StepSentence(query, layout, e, answer.micro_batches), ". It needs ", need);
  }
  return absl::StrCat(layout, " does not fit ", query.model.name, " on ", DevicesText(query),
                      ": it needs ", need, " If it ran, a step would take ",
                      FormatSeconds(e.time.step_s()), ": ", SpeedText(e, answer.micro_batches),
                      ".");
}

struct PartRow {
  std::string name;
  std::string amount;
  std::string share;
};

// Prints memory and time side by side; parts that are 0 are left out.
void PrintParts(const planner::EstimateAnswer& answer, std::ostream& out) {
  const planner::MemoryEstimate& m = answer.estimate.memory;
  const planner::TimeEstimate& time = answer.estimate.time;
  const auto total_bytes = static_cast<double>(m.total_bytes());
  std::vector<PartRow> memory;
  for (const planner::MemoryPart part : planner::ShownParts(answer.estimate)) {
    const int64_t bytes = planner::PartBytes(m, part);
    if (bytes == 0) continue;
    memory.push_back({std::string(planner::PartName(part)), FormatGib(bytes),
                      FormatPercent(static_cast<double>(bytes) / total_bytes)});
  }
  std::vector<PartRow> step;
  for (const planner::TimePart part : planner::kTimeParts) {
    if (time[part] == 0.0) continue;
    step.push_back({std::string(planner::PartName(part)), absl::StrFormat("%.4f", time[part]),
                    FormatPercent(time[part] / time.step_s())});
  }
  const size_t rows = std::max(memory.size(), step.size());
  memory.resize(rows);
  step.resize(rows);
  memory.push_back({"total", FormatGib(m.total_bytes()), ""});
  step.push_back({"step", absl::StrFormat("%.4f", time.step_s()), ""});
  const std::string device = answer.layout.pp > 1
                                 ? absl::StrCat("memory, pipeline rank ", m.pipeline_rank)
                                 : std::string("memory of a device");
  Table table({device, "GiB", "share", "| time", "seconds", "share"});
  for (size_t i = 0; i < memory.size(); ++i) {
    table.Add({memory[i].name, memory[i].amount, memory[i].share, "| " + step[i].name,
               step[i].amount, step[i].share});
  }
  table.Print(out);
}

// Explains the rows of PrintParts() whose names do not say what they hold.
void AddWordsOfParts(const planner::Estimate& estimate, Legend& legend) {
  for (const planner::MemoryPart part : planner::ShownParts(estimate)) {
    const std::string_view meaning = planner::PartMeaning(part);
    if (planner::PartBytes(estimate.memory, part) != 0 && !meaning.empty())
      legend.Add(planner::PartName(part), meaning);
  }
  for (const planner::TimePart part :
       {planner::TimePart::kStraggler, planner::TimePart::kPressure}) {
    if (estimate.time[part] != 0.0) legend.Add(planner::PartName(part), planner::Subject(part));
  }
}

void PrintReasons(const planner::EstimateAnswer& answer, const TextStyle& style,
                  std::ostream& out) {
  const planner::Explanation& why = answer.explanation;
  std::vector<std::string> sentences = {planner::TimeSentence(answer.ranked())};
  if (why.experts) sentences.push_back(why.experts->sentence);
  if (why.latent_attention) sentences.push_back(why.latent_attention->sentence);
  if (why.offload) sentences.push_back(why.offload->sentence);
  sentences.push_back(planner::ChangeSentence(answer.ranked(), why, style.whole_layouts));
  if (why.other_imbalance) sentences.push_back(why.other_imbalance->sentence);
  for (const std::string& sentence : sentences) {
    if (!sentence.empty()) PrintProse(sentence, out);
  }
}

}  // namespace

void PrintEstimate(const planner::PlanQuery& query, const planner::EstimateAnswer& answer,
                   const TextStyle& style, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  if (style.details) return PrintDetails(query, answer, style, out);
  PrintProse(VerdictSentence(query, answer, style), out);
  PrintProse(IntervalSentence(answer.estimate), out);
  out << "\n";
  PrintParts(answer, out);
  Legend legend;
  legend.Add("P(OOM)", kOomMeaning);
  AddWordsOfParts(answer.estimate, legend);
  legend.AddWordsOf({answer.layout});
  legend.Print(out);
  out << "\n";
  PrintReasons(answer, style, out);
  out << "\n";
  PrintProse(absl::StrCat(SettingsText(query, answer.counts), "; ", ParametersText(answer)), out);
  PrintNotes(answer.rests_on, answer.notes, style, out);
  out << "--details: memory by pipeline rank, causal MFU, evidence\n";
}

}  // namespace meshwright::cli

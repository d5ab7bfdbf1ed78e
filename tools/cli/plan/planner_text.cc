#include "tools/cli/plan/planner_text.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/string_view.h"
#include "planner/report/question_text.h"
#include "planner/spec/cluster_spec.h"
#include "tools/cli/io/prose.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

// Such as "671 B parameters, 37.6 B active, and 11.6 B that predict further tokens".
std::string ParametersText(const planner::ParameterCounts& counts) {
  std::string text = FormatParameters(counts.parameters) + " parameters";
  if (counts.active_parameters < counts.parameters) {
    text += ", " + FormatParameters(counts.active_parameters) + " active";
  }
  if (counts.tower_parameters > 0) {
    text += ", " + FormatParameters(counts.tower_parameters) + " in its tower";
  }
  if (counts.mtp_parameters > 0) {
    text += ", and " + FormatParameters(counts.mtp_parameters) + " that predict further tokens";
  }
  if (counts.trainable_parameters > 0) {
    text += ", " + FormatParameters(counts.trainable_parameters) + " trainable";
  }
  return text;
}

}  // namespace

void PrintHeadline(const planner::PlanQuery& query, int64_t parameters, std::ostream& out) {
  PrintHeadline(query, planner::ParameterCounts{parameters, parameters}, out);
}

void PrintHeadline(const planner::PlanQuery& query, const planner::ParameterCounts& parameters,
                   std::ostream& out) {
  PrintProse(absl::StrCat(query.model.name, " (", ParametersText(parameters), ") on ",
                          FormatCount(query.devices), " x ", query.cluster.name,
                          planner::TrainingText(query, planner::BatchText(query))),
             out);
}

namespace {

void PrintMeasured(const std::vector<planner::MeasuredRunReport>& runs, const TextStyle& style,
                   std::ostream& out) {
  if (runs.empty()) return;
  Table table({"measured", "step", "estimate", "corrected", "GiB", "estimate", "corrected"});
  for (const planner::MeasuredRunReport& run : runs) {
    const std::string none = run.out_of_memory ? "oom" : "-";
    table.Add({LayoutText(run.layout, style),
               run.measured_step_s ? FormatSeconds(*run.measured_step_s) : none,
               FormatSeconds(run.step_before_s), FormatSeconds(run.step_s),
               run.measured_peak_bytes ? FormatGib(*run.measured_peak_bytes) : none,
               FormatGib(run.peak_before_bytes), FormatGib(run.peak_bytes)});
  }
  table.Print(out);
}

// Returns where a preset's figures are from, such as "come from 70 measured runs".
std::string OriginText(const planner::PresetEvidence& preset) {
  if (preset.rows > 0) {
    return absl::StrCat("come from ", FormatCount(preset.rows),
                        preset.rows == 1 ? " measured run" : " measured runs");
  }
  const auto evidence = planner::ParseEvidence(preset.kind);
  switch (evidence.ok() ? *evidence : planner::Evidence::kUnverified) {
    case planner::Evidence::kAssumption:
      return "are assumed";
    case planner::Evidence::kUnverified:
      return "are unverified";
    case planner::Evidence::kDataSheet:
      return "come from the data sheet";
    case planner::Evidence::kBenchmark:
      return "come from a benchmark of its devices";
    case planner::Evidence::kRuns:
      return "come from measured runs";
  }
  return "";
}

// Returns how the user's own runs took part, after a separator; empty if no preset has runs.
std::string WhoseRuns(const planner::RestsOn& rests_on) {
  const size_t own = rests_on.measured.size();
  if (own > 0)
    return absl::StrCat("; ", own, own == 1 ? " run" : " runs",
                        " of yours corrected the estimates");
  if (rests_on.level == planner::EvidenceLevel::kFittedSource)
    return "; some of them are your runs";
  const bool has_runs = rests_on.cluster.rows + rests_on.framework.rows > 0;
  return has_runs ? "; none of these runs is yours" : "";
}

// Returns which of the two presets has no measured run; empty if both have some.
std::string NeverMeasured(const planner::RestsOn& rests_on) {
  std::vector<std::string> names;
  for (const planner::PresetEvidence* preset : {&rests_on.cluster, &rests_on.framework}) {
    if (preset->rows == 0) names.push_back(preset->name);
  }
  if (names.empty()) return "";
  return absl::StrCat(names.size() > 1 ? "neither " : "", absl::StrJoin(names, " nor "),
                      names.size() > 1 ? " has a measured run" : " has no measured run");
}

std::string AttentionText(const planner::RestsOn& rests_on) {
  return absl::StrCat("Attention kernel: ",
                      AbslView(planner::AttentionKernelName(rests_on.attention_kernel)));
}

std::string BriefEvidence(const planner::RestsOn& rests_on) {
  std::string text = absl::StrCat("Efficiencies (shares of peak rates): those of the hardware (",
                                  rests_on.cluster.name, ") ", OriginText(rests_on.cluster),
                                  ", those of the framework (", rests_on.framework.name, ") ",
                                  OriginText(rests_on.framework), WhoseRuns(rests_on), ".");
  std::vector<std::string> reasons = rests_on.uncovered;
  const std::string never = NeverMeasured(rests_on);
  if (!never.empty()) reasons.insert(reasons.begin(), never);
  if (!reasons.empty()) {
    absl::StrAppend(&text, " The interval is wider: ", absl::StrJoin(reasons, "; "), ".");
  }
  absl::StrAppend(&text, " ", AttentionText(rests_on), ".");
  return text;
}

}  // namespace

void PrintNotes(const planner::RestsOn& rests_on, const std::vector<std::string>& notes,
                const TextStyle& style, std::ostream& out) {
  if (style.details) {
    out << "Estimates rest on " << rests_on.sentence << "\n" << AttentionText(rests_on) << "\n";
  } else {
    PrintProse(BriefEvidence(rests_on), out);
  }
  PrintMeasured(rests_on.measured, style, out);
  for (const std::string& note : notes) {
    if (style.details) {
      out << "note: " << note << "\n";
    } else {
      PrintProse("note: " + note, out, /*indent=*/2);
    }
  }
}

void PrintScaleHeadline(const planner::PlanQuery& query, const planner::DeviceRange& range,
                        int64_t parameters, const std::string& batch, std::ostream& out) {
  PrintProse(absl::StrCat(query.model.name, " (", FormatParameters(parameters), " parameters) on ",
                          planner::DevicesText(range), " x ", query.cluster.name,
                          planner::TrainingText(query, batch)),
             out);
}

std::string SettingsText(const planner::PlanQuery& query,
                         const planner::ParameterCounts& parameters) {
  const int64_t tokens = query.training.global_batch * query.training.seq_len;
  const std::string batch =
      absl::StrCat(planner::BatchText(query), " (", FormatCount(tokens), " tokens)");
  return absl::StrCat(query.model.name, " (", ParametersText(parameters), ")",
                      planner::TrainingText(query, batch));
}

std::string DevicesText(const planner::PlanQuery& query) {
  return absl::StrCat(FormatCount(query.devices), query.devices == 1 ? " device (" : " devices (",
                      query.cluster.name, ")");
}

std::string SpeedText(const planner::Estimate& estimate, int64_t micro_batches) {
  return absl::StrCat(
      FormatCount(micro_batches), micro_batches == 1 ? " micro-batch, " : " micro-batches, ",
      FormatPercent(estimate.mfu), " MFU, ",
      FormatCount(static_cast<int64_t>(estimate.tokens_per_s_per_gpu)), " tokens/s/GPU");
}

std::string StepSentence(const planner::PlanQuery& query, const std::string& layout,
                         const planner::Estimate& estimate, int64_t micro_batches) {
  return absl::StrCat("With ", layout, ", a step of ", query.model.name, " takes ",
                      FormatSeconds(estimate.time.step_s()), " on ", DevicesText(query), ": ",
                      SpeedText(estimate, micro_batches));
}

std::string IntervalSentence(const planner::Estimate& estimate) {
  std::string step;
  if (estimate.step_high_s > estimate.step_low_s) {
    step = absl::StrCat(FormatSeconds(estimate.step_low_s), " to ",
                        FormatSeconds(estimate.step_high_s), " a step and ");
  }
  return absl::StrCat("Runs likely take ", step, FormatGib(estimate.peak_low_bytes), " to ",
                      FormatGib(estimate.peak_high_bytes), " GiB (80 % interval).");
}

}  // namespace meshwright::cli

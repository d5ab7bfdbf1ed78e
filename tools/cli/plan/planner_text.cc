#include "tools/cli/plan/planner_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "planner/search/front.h"
#include "planner/spec/run_option_table.h"
#include "tools/cli/io/folded_text.h"
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

// Such as ", loss chunked:8"; options with their default are left out.
std::string OptionsText(const planner::RunOptions& options) {
  std::string text;
  for (const planner::RunOption& option : planner::kRunOptions) {
    if (HasDefault(option, options)) continue;
    text += ", " + std::string(option.name) + " " + option.text(options);
  }
  return text;
}

}  // namespace

void PrintHeadline(const planner::PlanQuery& query, int64_t parameters, std::ostream& out) {
  PrintHeadline(query, planner::ParameterCounts{parameters, parameters}, out);
}

void PrintHeadline(const planner::PlanQuery& query, const planner::ParameterCounts& parameters,
                   std::ostream& out) {
  out << query.model.name << " (" << ParametersText(parameters) << ") on "
      << FormatCount(query.devices) << " x " << query.cluster.name << ", sequence "
      << FormatCount(query.training.seq_len) << ", global batch "
      << FormatCount(query.training.global_batch) << ", "
      << planner::PrecisionName(query.training.precision) << OptionsText(query.training.options)
      << ", framework " << query.framework.name << "\n";
}

namespace {

void PrintMeasured(const std::vector<planner::MeasuredRunReport>& runs, std::ostream& out) {
  if (runs.empty()) return;
  Table table({"measured", "step", "estimate", "corrected", "GiB", "estimate", "corrected"});
  for (const planner::MeasuredRunReport& run : runs) {
    const std::string none = run.out_of_memory ? "oom" : "-";
    table.Add({run.layout, run.measured_step_s ? FormatSeconds(*run.measured_step_s) : none,
               FormatSeconds(run.step_before_s), FormatSeconds(run.step_s),
               run.measured_peak_bytes ? FormatGib(*run.measured_peak_bytes) : none,
               FormatGib(run.peak_before_bytes), FormatGib(run.peak_bytes)});
  }
  table.Print(out);
}

}  // namespace

void PrintNotes(const planner::RestsOn& rests_on, const std::vector<std::string>& notes,
                std::ostream& out) {
  out << "rests on " << rests_on.sentence << "\n";
  PrintMeasured(rests_on.measured, out);
  for (const std::string& note : notes) out << "note: " << note << "\n";
}

void PrintScaleHeadline(const planner::PlanQuery& query, const planner::DeviceRange& range,
                        int64_t parameters, const std::string& batch, std::ostream& out) {
  out << query.model.name << " (" << FormatParameters(parameters) << " parameters) on "
      << FormatCount(range.low);
  if (!range.is_one()) out << " to " << FormatCount(range.high);
  out << " x " << query.cluster.name << ", sequence " << FormatCount(query.training.seq_len) << ", "
      << batch << ", " << planner::PrecisionName(query.training.precision)
      << OptionsText(query.training.options) << ", framework " << query.framework.name << "\n";
}

namespace {

void PrintFunnel(const planner::PlanQuery& query, const planner::SearchResult& result,
                 double elapsed_s, std::ostream& out) {
  const planner::Funnel& funnel = result.funnel;
  out << FormatCount(funnel.enumerated) << " layouts enumerated in " << FormatSeconds(elapsed_s)
      << (query.search.empty() ? "" : ", under each of the options that are searched") << ": "
      << FormatCount(funnel.invalid) << " invalid, ";
  if (!query.where.empty()) out << FormatCount(funnel.left_out) << " left out, ";
  out << FormatCount(funnel.memory) << " over " << planner::MemoryCriterion(query) << ", "
      << FormatCount(funnel.evaluated) << " evaluated\n";
  std::vector<std::pair<int64_t, planner::Rule>> rules;
  for (size_t i = 0; i < funnel.invalid_by_rule.size(); ++i) {
    if (funnel.invalid_by_rule[i] > 0) {
      rules.emplace_back(funnel.invalid_by_rule[i], static_cast<planner::Rule>(i));
    }
  }
  std::stable_sort(rules.begin(), rules.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  out << "invalid by first broken rule:";
  const char* separator = " ";
  for (const auto& [count, rule] : rules) {
    out << separator << planner::RuleName(rule) << " " << FormatCount(count);
    separator = ", ";
  }
  out << "\n";
  if (!result.partial) return;
  out << "The time limit ended the search: " << FormatCount(result.partial->seen) << " of "
      << FormatCount(result.partial->of)
      << " layouts were seen, and those below are the best of them.\n";
}

bool IsAbout(const planner::PlanQuery& query, std::string_view objective) {
  return query.objective == objective || query.pareto.find(objective) != std::string::npos;
}

void PrintRanking(const planner::PlanQuery& query,
                  const std::vector<planner::RankedLayout>& layouts, std::ostream& out) {
  const bool by_risk = query.max_oom_probability.has_value();
  const bool by_energy = IsAbout(query, "energy");
  std::vector<std::string> header = {"#", "layout", "GiB/device", "of device"};
  if (by_risk) header.emplace_back("P(OOM)");
  header.insert(header.end(),
                {"step", "MFU", "TFLOP/s/GPU", "tokens/s/GPU", "causal MFU", "tokens/s"});
  if (by_energy) header.emplace_back("tokens/J");
  Table table(std::move(header));
  for (size_t i = 0; i < layouts.size(); ++i) {
    const planner::Estimate& e = layouts[i].estimate;
    std::vector<std::string> row = {std::to_string(i + 1), planner::RankedText(layouts[i]),
                                    FormatGib(e.memory.total_bytes()),
                                    FormatPercent(e.fraction_of_device)};
    if (by_risk) row.push_back(FormatPercent(e.oom_probability));
    row.insert(row.end(),
               {FormatSeconds(e.time.step_s()), FormatPercent(e.mfu),
                absl::StrFormat("%.1f", e.tflops_per_gpu),
                FormatCount(static_cast<int64_t>(e.tokens_per_s_per_gpu)),
                FormatPercent(e.mfu_causal), FormatCount(static_cast<int64_t>(e.tokens_per_s))});
    if (by_energy) row.push_back(absl::StrFormat("%.4g", e.tokens_per_joule));
    table.Add(std::move(row));
  }
  table.Print(out);
}

// Ties are not ranked by time: the estimate can't tell them apart, and a simpler layout is
// preferable.
void PrintTies(const planner::SearchResult& result, std::ostream& out) {
  const planner::Ties& ties = result.ties;
  const std::string within = FormatPercent(ties.within);
  if (ties.count <= 1) {
    out << "No other layout is within the " << within
        << " of the first that the estimate can't tell apart.\n\n";
    return;
  }
  out << FormatCount(ties.count) << " layouts tie: within " << within
      << " of the first, which is closer than the estimate can tell apart. The simplest of them "
         "first:\n";
  Table table({"layout", "GiB/device", "of device", "step", "over the first", "MFU"});
  const double first_s = result.layouts.front().estimate.time.step_s();
  for (const planner::RankedLayout& ranked : ties.simplest) {
    const planner::Estimate& e = ranked.estimate;
    table.Add({planner::RankedText(ranked), FormatGib(e.memory.total_bytes()),
               FormatPercent(e.fraction_of_device), FormatSeconds(e.time.step_s()),
               FormatPercent(e.time.step_s() / first_s - 1.0), FormatPercent(e.mfu)});
  }
  table.Print(out);
  out << "\n";
}

std::string RankedBy(const planner::PlanQuery& query) {
  if (query.objective == "memory") return "predicted memory; MFU";
  if (query.objective == "energy") return "predicted tokens a joule; MFU";
  return "predicted MFU";
}

// Prints the whole front in as many lines as the query's `top`, with both ends.
void PrintFront(const planner::PlanQuery& query, const planner::SearchResult& result,
                std::ostream& out) {
  if (query.pareto.empty()) return;
  const std::vector<planner::RankedLayout> shown =
      planner::EvenlySpread(result.front, std::max<size_t>(2, static_cast<size_t>(query.top)));
  out << "\nNo layout beats any of these " << FormatCount(static_cast<int64_t>(result.front.size()))
      << " in all of " << query.pareto;
  if (shown.size() < result.front.size()) {
    out << "; " << shown.size() << " that divide them evenly (--top shows more)";
  }
  out << ":\n";
  PrintRanking(query, shown, out);
}

void PrintGroups(const planner::PlanQuery& query, const planner::SearchResult& result,
                 std::ostream& out) {
  if (query.best_per.empty()) return;
  out << "\nThe best layout for each " << query.best_per << " that fits:\n";
  Table table({"group", "fit", "best layout", "GiB/device", "step", "MFU", "tokens/s/GPU"});
  for (const planner::GroupBest& group : result.groups) {
    const planner::Estimate& e = group.best.estimate;
    table.Add({group.group, FormatCount(group.fit), planner::RankedText(group.best),
               FormatGib(e.memory.total_bytes()), FormatSeconds(e.time.step_s()),
               FormatPercent(e.mfu), FormatCount(static_cast<int64_t>(e.tokens_per_s_per_gpu))});
  }
  table.Print(out);
}

// Prints faster layouts that the memory criterion dropped.
void PrintWorthATrial(const planner::PlanQuery& query, const planner::SearchResult& result,
                      std::ostream& out) {
  if (result.worth_a_trial.empty()) return;
  out << "\nWorth a trial: over " << planner::MemoryCriterion(query) << ", but "
      << (result.layouts.empty() ? "" : "predicted faster and ")
      << "more likely to fit than not:\n";
  Table table({"layout", "GiB/device", "of device", "P(OOM)", "step", "MFU", "tokens/s"});
  for (const planner::RankedLayout& ranked : result.worth_a_trial) {
    const planner::Estimate& e = ranked.estimate;
    table.Add({planner::RankedText(ranked), FormatGib(e.memory.total_bytes()),
               FormatPercent(e.fraction_of_device), FormatPercent(e.oom_probability),
               FormatSeconds(e.time.step_s()), FormatPercent(e.mfu),
               FormatCount(static_cast<int64_t>(e.tokens_per_s))});
  }
  table.Print(out);
}

void PrintMine(const std::optional<planner::UserLayoutReport>& mine, std::ostream& out) {
  if (mine) out << "\nMine, " << mine->layout << ":\n  " << mine->sentence << "\n";
}

void PrintMemoryParts(const std::vector<planner::RankedLayout>& layouts, std::ostream& out) {
  std::vector<std::string> header = {"#"};
  const std::vector<planner::MemoryPart> parts = planner::ShownParts(layouts.front().estimate);
  for (const planner::MemoryPart part : parts) header.emplace_back(planner::PartName(part));
  header.insert(header.end(), {"total", "on pipeline rank"});
  Table table(std::move(header));
  for (size_t i = 0; i < layouts.size(); ++i) {
    const planner::MemoryEstimate& m = layouts[i].estimate.memory;
    std::vector<std::string> row = {std::to_string(i + 1)};
    for (const planner::MemoryPart part : parts) {
      row.push_back(FormatGib(planner::PartBytes(m, part)));
    }
    row.push_back(FormatGib(m.total_bytes()));
    row.push_back(std::to_string(m.pipeline_rank));
    table.Add(std::move(row));
  }
  table.Print(out);
}

void PrintNearest(const planner::SearchResult& result, int64_t allowed_bytes, std::ostream& out) {
  const planner::RankedLayout& nearest = *result.nearest;
  out << "Nothing fits: a device may fill " << FormatBytes(allowed_bytes)
      << ". Nearest: " << planner::RankedText(nearest) << " needs "
      << FormatBytes(nearest.estimate.memory.total_bytes()) << ", which is over by "
      << FormatCount(result.nearest_over_bytes) << " bytes ("
      << FormatBytes(result.nearest_over_bytes) << ").";
  const double probability = nearest.estimate.oom_probability;
  if (probability < 0.5) {
    out << " It runs out of memory with a probability of " << FormatPercent(probability)
        << ": --max-oom-probability 0.5 ranks such layouts, too.";
  }
  out << "\n";
}

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

void PrintFit(const planner::EstimateAnswer& answer, std::ostream& out) {
  const planner::Estimate& e = answer.estimate;
  out << "  " << planner::MemorySentence(e) << "\n";
  const int64_t spare = answer.allowed_bytes - e.memory.total_bytes();
  out << "  " << FormatPercent(e.fraction_of_device) << " of the device: "
      << (answer.fits() ? "fits under the 80 % rule with " : "over the 80 % rule by ")
      << FormatBytes(std::abs(spare)) << (answer.fits() ? " to spare" : "")
      << "; probability of running out of memory " << FormatPercent(e.oom_probability)
      << "\n  80 % of runs like this one peak at " << FormatBytes(e.peak_low_bytes) << " to "
      << FormatBytes(e.peak_high_bytes) << "\n";
  const planner::Explanation& why = answer.explanation;
  if (why.experts) out << "  " << why.experts->sentence << "\n";
  if (why.latent_attention) out << "  " << why.latent_attention->sentence << "\n";
  if (why.offload) out << "  " << why.offload->sentence << "\n";
  const std::string change = planner::ChangeSentence(answer.ranked(), why);
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
    out << "  80 % of runs like this one take " << FormatSeconds(e.step_low_s) << " to "
        << FormatSeconds(e.step_high_s) << " per step\n";
  }
}

}  // namespace

void PrintRecommendation(const planner::PlanQuery& query, const planner::RecommendAnswer& answer,
                         double elapsed_s, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  PrintHeadline(query, answer.counts, out);
  PrintNotes(answer.rests_on, answer.notes, out);
  PrintFunnel(query, answer.result, elapsed_s, out);
  out << "\n";
  if (answer.result.layouts.empty()) {
    PrintNearest(answer.result, answer.allowed_bytes, out);
    PrintMine(answer.mine, out);
    PrintWorthATrial(query, answer.result, out);
    return;
  }
  if (query.objective != "memory") PrintTies(answer.result, out);
  out << "Ranked by " << RankedBy(query)
      << " (PaLM definition; causal MFU counts half of the attention):\n";
  PrintRanking(query, answer.result.layouts, out);
  PrintFront(query, answer.result, out);
  PrintGroups(query, answer.result, out);
  PrintMine(answer.mine, out);
  PrintWorthATrial(query, answer.result, out);
  out << "\nMemory of the fullest device, GiB:\n";
  PrintMemoryParts(answer.result.layouts, out);
}

void PrintEstimate(const planner::PlanQuery& query, const planner::EstimateAnswer& answer,
                   std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  const planner::Estimate& e = answer.estimate;
  PrintHeadline(query, answer.counts, out);
  PrintNotes(answer.rests_on, answer.notes, out);
  out << planner::FormatLayout(answer.layout) << ", up to "
      << FormatParameters(answer.parameters_per_gpu) << " parameters on a GPU; "
      << FormatCount(answer.micro_batches)
      << (answer.micro_batches == 1 ? " micro-batch" : " micro-batches") << " a step on each rank, "
      << FormatCount(answer.tokens_per_step) << " tokens a step\n\n";
  PrintStages(answer, out);
  PrintFit(answer, out);
  out << "\n";
  PrintTimeTable(answer.ranked(), out);
  out << absl::StrFormat(
      "\npredicted MFU %s (PaLM), %s (causal); per GPU %.1f TFLOP/s (PaLM), %.1f (causal) and %s "
      "tokens/s; %s tokens/s in all\n",
      FormatPercent(e.mfu), FormatPercent(e.mfu_causal), e.tflops_per_gpu, e.tflops_per_gpu_causal,
      FormatCount(static_cast<int64_t>(e.tokens_per_s_per_gpu)),
      FormatCount(static_cast<int64_t>(e.tokens_per_s)));
}

}  // namespace meshwright::cli

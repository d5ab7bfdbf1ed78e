#include "tools/cli/plan/recommend_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "planner/search/front.h"
#include "tools/cli/common/legend.h"
#include "tools/cli/io/folded_text.h"
#include "tools/cli/io/prose.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"
#include "tools/cli/plan/planner_text.h"

namespace meshwright::cli {
namespace {

// Says if the search ended early.
void PrintPartial(const planner::SearchResult& result, std::ostream& out) {
  if (!result.partial) return;
  out << "The time limit ended the search: " << FormatCount(result.partial->seen) << " of "
      << FormatCount(result.partial->of)
      << " layouts were seen, and those below are the best of them.\n";
}

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
  PrintPartial(result, out);
}

bool IsAbout(const planner::PlanQuery& query, std::string_view objective) {
  return query.objective == objective || query.pareto.find(objective) != std::string::npos;
}

void PrintRanking(const planner::PlanQuery& query,
                  const std::vector<planner::RankedLayout>& layouts, const TextStyle& style,
                  std::ostream& out) {
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
    std::vector<std::string> row = {std::to_string(i + 1), LayoutText(layouts[i], style),
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
void PrintTies(const planner::SearchResult& result, const TextStyle& style, std::ostream& out) {
  const planner::Ties& ties = result.ties;
  const std::string within = FormatPercent(ties.within);
  if (ties.count <= 1) {
    out << "No other layout ties with the first: none is within " << within << " of it.\n\n";
    return;
  }
  out << FormatCount(ties.count) << " layouts tie: within " << within
      << ", the estimate can't tell layouts apart. The simplest first:\n";
  Table table({"layout", "GiB/device", "of device", "step", "over the first", "MFU"});
  const double first_s = result.layouts.front().estimate.time.step_s();
  for (const planner::RankedLayout& ranked : ties.simplest) {
    const planner::Estimate& e = ranked.estimate;
    table.Add({LayoutText(ranked, style), FormatGib(e.memory.total_bytes()),
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
                const TextStyle& style, std::ostream& out) {
  if (query.pareto.empty()) return;
  const std::vector<planner::RankedLayout> shown =
      planner::EvenlySpread(result.front, std::max<size_t>(2, static_cast<size_t>(query.top)));
  out << "\nNo layout beats any of these " << FormatCount(static_cast<int64_t>(result.front.size()))
      << " in all of " << query.pareto;
  if (shown.size() < result.front.size()) {
    out << "; " << shown.size() << " that divide them evenly (--top shows more)";
  }
  out << ":\n";
  PrintRanking(query, shown, style, out);
}

void PrintGroups(const planner::PlanQuery& query, const planner::SearchResult& result,
                 const TextStyle& style, std::ostream& out) {
  if (query.best_per.empty()) return;
  out << "\nThe best layout for each " << query.best_per << " that fits:\n";
  Table table({"group", "fit", "best layout", "GiB/device", "step", "MFU", "tokens/s/GPU"});
  for (const planner::GroupBest& group : result.groups) {
    const planner::Estimate& e = group.best.estimate;
    table.Add({group.group, FormatCount(group.fit), LayoutText(group.best, style),
               FormatGib(e.memory.total_bytes()), FormatSeconds(e.time.step_s()),
               FormatPercent(e.mfu), FormatCount(static_cast<int64_t>(e.tokens_per_s_per_gpu))});
  }
  table.Print(out);
}

// Returns how layouts exceed the query's memory criterion. `they` is "it" or "they".
std::string WhyLeftOut(const planner::PlanQuery& query, std::string_view they) {
  const bool is_one = they == "it";
  if (query.max_oom_probability) {
    return absl::StrCat(is_one ? "its" : "their", " P(OOM) is above ",
                        FormatPercent(*query.max_oom_probability));
  }
  return absl::StrCat(is_one ? "it fills" : "they fill", " more than 80 % of a device");
}

// Prints faster layouts that the memory criterion dropped.
void PrintWorthATrial(const planner::PlanQuery& query, const planner::SearchResult& result,
                      const TextStyle& style, std::ostream& out) {
  if (result.worth_a_trial.empty()) return;
  out << "\nWorth a trial: " << (result.layouts.empty() ? "" : "faster than the first and ")
      << "likely to fit, but left out because " << WhyLeftOut(query, "they") << ":\n";
  Table table({"layout", "GiB/device", "of device", "P(OOM)", "step", "MFU", "tokens/s"});
  for (const planner::RankedLayout& ranked : result.worth_a_trial) {
    const planner::Estimate& e = ranked.estimate;
    table.Add({LayoutText(ranked, style), FormatGib(e.memory.total_bytes()),
               FormatPercent(e.fraction_of_device), FormatPercent(e.oom_probability),
               FormatSeconds(e.time.step_s()), FormatPercent(e.mfu),
               FormatCount(static_cast<int64_t>(e.tokens_per_s))});
  }
  table.Print(out);
}

void PrintMine(const std::optional<planner::UserLayoutReport>& mine, const TextStyle& style,
               std::ostream& out) {
  if (!mine) return;
  out << "\nMine, " << LayoutText(mine->layout, style) << ":\n";
  PrintProse("  " + mine->sentence, out, /*indent=*/2);
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

void PrintNearest(const planner::SearchResult& result, int64_t allowed_bytes,
                  const TextStyle& style, std::ostream& out) {
  const planner::RankedLayout& nearest = *result.nearest;
  std::string text = absl::StrCat("Nothing fits: a device may fill ", FormatBytes(allowed_bytes),
                                  ". Nearest: ", LayoutText(nearest, style), " needs ",
                                  FormatBytes(nearest.estimate.memory.total_bytes()), ", which is ",
                                  FormatBytes(result.nearest_over_bytes), " too much.");
  const double probability = nearest.estimate.oom_probability;
  if (probability < 0.5) {
    absl::StrAppend(&text, " It runs out of memory with a probability of ",
                    FormatPercent(probability),
                    ": --max-oom-probability 0.5 ranks such layouts, too.");
  }
  PrintProse(text, out);
}

// Returns "With dp64.zero2, a step of llama-3-8b takes 3.47 s …".
std::string BestSentence(const planner::PlanQuery& query, const planner::RankedLayout& best,
                         const TextStyle& style) {
  const planner::Estimate& e = best.estimate;
  const int64_t micro_batches = best.layout.MicroBatches(query.training.global_batch);
  return absl::StrCat(StepSentence(query, LayoutText(best, style), e, micro_batches), ", ",
                      FormatGib(e.memory.total_bytes()), " GiB on the fullest device (",
                      FormatPercent(e.fraction_of_device), " of its memory).");
}

// Returns how many layouts the estimate can't tell apart from the first, and the simplest of them.
std::string TiesSentence(const planner::SearchResult& result, const TextStyle& style) {
  const planner::Ties& ties = result.ties;
  if (ties.count <= 1) {
    return absl::StrCat("No other layout ties with it: none is within ", FormatPercent(ties.within),
                        " of it.");
  }
  std::string text = absl::StrCat(
      FormatCount(ties.count - 1), ties.count == 2 ? " other ties" : " others tie",
      " with it: within ", FormatPercent(ties.within), ", the estimate can't tell layouts apart.");
  const planner::RankedLayout& simplest = ties.simplest.front();
  if (simplest.layout == result.layouts.front().layout) return text;
  absl::StrAppend(&text, " The simplest of them is ", LayoutText(simplest, style), " with ",
                  FormatSeconds(simplest.estimate.time.step_s()), ".");
  return text;
}

bool TiesWithFirst(const planner::PlanQuery& query, const planner::Ties& ties,
                   const planner::Estimate& first, const planner::Estimate& other) {
  if (query.objective == "memory" || ties.count <= 1) return false;
  const bool by_energy = query.objective == "energy";
  const double best = by_energy ? first.tokens_per_joule : first.mfu;
  const double score = by_energy ? other.tokens_per_joule : other.mfu;
  return best <= (1.0 + ties.within) * score;
}

std::vector<planner::Layout> LayoutsOf(const std::vector<planner::RankedLayout>& ranked) {
  std::vector<planner::Layout> layouts;
  layouts.reserve(ranked.size());
  for (const planner::RankedLayout& one : ranked) layouts.push_back(one.layout);
  return layouts;
}

void PrintShortRanking(const planner::PlanQuery& query, const planner::SearchResult& result,
                       const TextStyle& style, std::ostream& out) {
  const bool by_energy = query.objective == "energy";
  std::vector<std::string> header = {"#", "layout", "GiB", "P(OOM)", "step", "MFU"};
  if (by_energy) header.emplace_back("tokens/J");
  Table table(std::move(header));
  const planner::Estimate& first = result.layouts.front().estimate;
  bool any_ties = false;
  for (size_t i = 0; i < result.layouts.size(); ++i) {
    const planner::Estimate& e = result.layouts[i].estimate;
    const bool ties = i > 0 && TiesWithFirst(query, result.ties, first, e);
    any_ties = any_ties || ties;
    std::vector<std::string> row = {
        absl::StrCat(i + 1, ties ? "=" : ""), LayoutText(result.layouts[i], style),
        FormatGib(e.memory.total_bytes()),    FormatPercent(e.oom_probability),
        FormatSeconds(e.time.step_s()),       FormatPercent(e.mfu)};
    if (by_energy) row.push_back(absl::StrFormat("%.4g", e.tokens_per_joule));
    table.Add(std::move(row));
  }
  table.Print(out);
  Legend legend;
  legend.Add("P(OOM)", kOomMeaning);
  if (any_ties) {
    legend.Add("=", absl::StrCat("ties with the first: is within ",
                                 FormatPercent(result.ties.within), " of it"));
  }
  legend.AddWordsOf(LayoutsOf(result.layouts));
  legend.Print(out);
}

// Names the fastest layout that the memory criterion dropped although it is likely to fit.
void PrintLikelyToFit(const planner::PlanQuery& query, const planner::SearchResult& result,
                      const TextStyle& style, std::ostream& out) {
  if (result.worth_a_trial.empty()) return;
  const planner::RankedLayout& first = result.worth_a_trial.front();
  const planner::Estimate& e = first.estimate;
  const std::string figures = absl::StrCat(
      FormatSeconds(e.time.step_s()), " a step, ", FormatGib(e.memory.total_bytes()), " GiB (",
      FormatPercent(e.fraction_of_device), "), P(OOM) ", FormatPercent(e.oom_probability), ".");
  std::string text =
      absl::StrCat(LayoutText(first, style), result.layouts.empty() ? " may fit" : " is faster",
                   " but is left out because ", WhyLeftOut(query, "it"), ": ", figures);
  const size_t more = result.worth_a_trial.size() - 1;
  if (more > 0) {
    absl::StrAppend(&text, " --details lists ", more, " more such layout", more == 1 ? "." : "s.");
  }
  out << "\n";
  PrintProse(text, out);
}

void PrintSettings(const planner::PlanQuery& query, const planner::RecommendAnswer& answer,
                   double elapsed_s, std::ostream& out) {
  const planner::Funnel& funnel = answer.result.funnel;
  out << "\n";
  PrintProse(absl::StrCat(SettingsText(query, answer.counts), "; ", FormatCount(funnel.evaluated),
                          " of ", FormatCount(funnel.enumerated), " layouts fit, found in ",
                          FormatSeconds(elapsed_s)),
             out);
  PrintPartial(answer.result, out);
}

// Prints everything that is known of the answer.
void PrintDetails(const planner::PlanQuery& query, const planner::RecommendAnswer& answer,
                  double elapsed_s, const TextStyle& style, std::ostream& out) {
  const planner::SearchResult& result = answer.result;
  PrintHeadline(query, answer.counts, out);
  PrintNotes(answer.rests_on, answer.notes, style, out);
  PrintFunnel(query, result, elapsed_s, out);
  out << "\n";
  if (result.layouts.empty()) {
    PrintNearest(result, answer.allowed_bytes, style, out);
    PrintMine(answer.mine, style, out);
    PrintWorthATrial(query, result, style, out);
    return;
  }
  if (query.objective != "memory") PrintTies(result, style, out);
  out << "Ranked by " << RankedBy(query)
      << " (PaLM definition; causal MFU counts half of the attention):\n";
  PrintRanking(query, result.layouts, style, out);
  PrintFront(query, result, style, out);
  PrintGroups(query, result, style, out);
  PrintMine(answer.mine, style, out);
  PrintWorthATrial(query, result, style, out);
  out << "\nMemory of the fullest device, GiB:\n";
  PrintMemoryParts(result.layouts, out);
}

void PrintAnswer(const planner::PlanQuery& query, const planner::RecommendAnswer& answer,
                 const TextStyle& style, std::ostream& out) {
  const planner::SearchResult& result = answer.result;
  if (result.layouts.empty()) {
    PrintNearest(result, answer.allowed_bytes, style, out);
    return;
  }
  const planner::RankedLayout& best = result.layouts.front();
  PrintProse(BestSentence(query, best, style), out);
  if (query.objective != "memory") PrintProse(TiesSentence(result, style), out);
  PrintProse(IntervalSentence(best.estimate), out);
  out << "\n";
  if (!query.objective.empty()) out << "Ranked by " << RankedBy(query) << ":\n";
  PrintShortRanking(query, result, style, out);
}

}  // namespace

void PrintRecommendation(const planner::PlanQuery& query, const planner::RecommendAnswer& answer,
                         double elapsed_s, const TextStyle& style, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  if (style.details) return PrintDetails(query, answer, elapsed_s, style, out);
  PrintAnswer(query, answer, style, out);
  PrintFront(query, answer.result, style, out);
  PrintGroups(query, answer.result, style, out);
  PrintMine(answer.mine, style, out);
  PrintLikelyToFit(query, answer.result, style, out);
  PrintSettings(query, answer, elapsed_s, out);
  PrintNotes(answer.rests_on, answer.notes, style, out);
  out << "--details: what ties, why the others were left out, what fills the memory\n";
}

}  // namespace meshwright::cli

#include "tools/cli/planner_text.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "tools/cli/text.h"

namespace meshwright {
namespace {

void PrintHeadline(const PlanQuery& query, std::ostream& out) {
  out << query.model.name << " on " << FormatCount(query.devices) << " x " << query.cluster.name
      << ", sequence " << FormatCount(query.training.seq_len) << ", global batch "
      << FormatCount(query.training.global_batch) << ", " << PrecisionName(query.training.precision)
      << ", framework " << query.framework.name << "\n";
}

void PrintNotes(const std::vector<std::string>& notes, std::ostream& out) {
  for (const std::string& note : notes) out << "note: " << note << "\n";
}

void PrintFunnel(const Funnel& funnel, double elapsed_s, std::ostream& out) {
  out << FormatCount(funnel.enumerated) << " layouts enumerated in " << FormatSeconds(elapsed_s)
      << ": " << FormatCount(funnel.invalid) << " invalid, " << FormatCount(funnel.memory)
      << " over the 80 % memory rule, " << FormatCount(funnel.evaluated) << " evaluated\n";
  std::vector<std::pair<int64_t, Rule>> rules;
  for (size_t i = 0; i < funnel.invalid_by_rule.size(); ++i) {
    if (funnel.invalid_by_rule[i] > 0) {
      rules.emplace_back(funnel.invalid_by_rule[i], static_cast<Rule>(i));
    }
  }
  std::stable_sort(rules.begin(), rules.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  out << "invalid by first broken rule:";
  const char* separator = " ";
  for (const auto& [count, rule] : rules) {
    out << separator << RuleName(rule) << " " << FormatCount(count);
    separator = ", ";
  }
  out << "\n";
}

void PrintRanking(const std::vector<RankedLayout>& layouts, std::ostream& out) {
  Table table({"#", "layout", "GiB/device", "of device", "step", "MFU", "causal MFU", "tokens/s"});
  for (size_t i = 0; i < layouts.size(); ++i) {
    const Estimate& e = layouts[i].estimate;
    table.Add({std::to_string(i + 1), FormatLayout(layouts[i].layout),
               FormatGib(e.memory.total_bytes()), FormatPercent(e.fraction_of_device),
               FormatSeconds(e.time.step_s()), FormatPercent(e.mfu), FormatPercent(e.mfu_causal),
               FormatCount(static_cast<int64_t>(e.tokens_per_s))});
  }
  table.Print(out);
}

void PrintMemoryParts(const std::vector<RankedLayout>& layouts, std::ostream& out) {
  Table table({"#", "weights", "gradients", "optimizer", "activations", "loss", "workspace",
               "overhead", "total", "on pipeline rank"});
  for (size_t i = 0; i < layouts.size(); ++i) {
    const MemoryEstimate& m = layouts[i].estimate.memory;
    table.Add({std::to_string(i + 1), FormatGib(m.weights_bytes), FormatGib(m.gradients_bytes),
               FormatGib(m.optimizer_bytes), FormatGib(m.activations_bytes),
               FormatGib(m.loss_bytes), FormatGib(m.workspace_bytes), FormatGib(m.overhead_bytes),
               FormatGib(m.total_bytes()), std::to_string(m.pipeline_rank)});
  }
  table.Print(out);
}

void PrintNearest(const SearchResult& result, int64_t allowed_bytes, std::ostream& out) {
  const RankedLayout& nearest = *result.nearest;
  out << "Nothing fits: a device may fill " << FormatBytes(allowed_bytes)
      << ". Nearest: " << FormatLayout(nearest.layout) << " needs "
      << FormatBytes(nearest.estimate.memory.total_bytes()) << ", which is over by "
      << FormatCount(result.nearest_over_bytes) << " bytes ("
      << FormatBytes(result.nearest_over_bytes) << ").\n";
}

void PrintMemoryTable(const EstimateAnswer& answer, std::ostream& out) {
  const MemoryEstimate& m = answer.estimate.memory;
  out << "memory of one device on pipeline rank " << m.pipeline_rank << ", the fullest:\n";
  Table table({"  part", "bytes", "GiB"});
  const std::pair<const char*, int64_t> parts[] = {
      {"weights", m.weights_bytes},     {"gradients", m.gradients_bytes},
      {"optimizer", m.optimizer_bytes}, {"activations", m.activations_bytes},
      {"loss", m.loss_bytes},           {"workspace", m.workspace_bytes},
      {"fragmentation", m.fragmentation_bytes},
      {"overhead", m.overhead_bytes},   {"total", m.total_bytes()},
  };
  for (const auto& [name, bytes] : parts) {
    table.Add({std::string("  ") + name, FormatCount(bytes), FormatGib(bytes)});
  }
  table.Print(out);
}

void PrintTimeTable(const Estimate& estimate, std::ostream& out) {
  const TimeEstimate& t = estimate.time;
  out << "time of one step:\n";
  Table table({"  part", "seconds", "share"});
  const std::pair<const char*, double> parts[] = {
      {"compute", t.compute_s}, {"recompute", t.recompute_s},
      {"tp", t.tp_s},           {"cp", t.cp_s},
      {"pp", t.pp_s},           {"dp", t.dp_s},
      {"bubble", t.bubble_s},   {"straggler", t.straggler_s}, {"pressure", t.pressure_s},
      {"optimizer", t.optimizer_s}, {"step", t.step_s()},
  };
  for (const auto& [name, seconds] : parts) {
    table.Add({std::string("  ") + name, absl::StrFormat("%.6f", seconds),
               FormatPercent(seconds / t.step_s())});
  }
  table.Print(out);
}

}  // namespace

void PrintRecommendation(const PlanQuery& query, const RecommendAnswer& answer, double elapsed_s,
                         std::ostream& out) {
  PrintHeadline(query, out);
  PrintNotes(answer.notes, out);
  PrintFunnel(answer.result.funnel, elapsed_s, out);
  out << "\n";
  if (answer.result.layouts.empty()) {
    PrintNearest(answer.result, answer.allowed_bytes, out);
    return;
  }
  out << "Ranked by predicted MFU (PaLM definition; causal MFU counts half of the attention):\n";
  PrintRanking(answer.result.layouts, out);
  out << "\nMemory of the fullest device, GiB:\n";
  PrintMemoryParts(answer.result.layouts, out);
}

void PrintEstimate(const PlanQuery& query, const EstimateAnswer& answer, std::ostream& out) {
  const Estimate& e = answer.estimate;
  PrintHeadline(query, out);
  PrintNotes(answer.notes, out);
  out << FormatLayout(answer.layout) << "\n\n";
  PrintMemoryTable(answer, out);
  const int64_t spare = answer.allowed_bytes - e.memory.total_bytes();
  out << "  " << FormatPercent(e.fraction_of_device) << " of the device: "
      << (answer.fits() ? "fits under the 80 % rule with " : "over the 80 % rule by ")
      << FormatBytes(std::abs(spare)) << (answer.fits() ? " to spare" : "") << "\n\n";
  PrintTimeTable(e, out);
  out << absl::StrFormat("\npredicted MFU %s (PaLM), %s (causal), ", FormatPercent(e.mfu),
                         FormatPercent(e.mfu_causal))
      << FormatCount(static_cast<int64_t>(e.tokens_per_s)) << " tokens/s\n";
}

}  // namespace meshwright

#include "tools/cli/trial/trial_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/cli/common/utilisation_text.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"

namespace meshwright::cli {
namespace {

std::string Milliseconds(double seconds) { return absl::StrFormat("%.1f", seconds * 1e3); }

// In the order of the table. The short forms are the axes' names.
constexpr std::array<std::pair<trial::Phase, const char*>, trial::kPhases> kColumns = {{
    {trial::Phase::kForward, "forward"},
    {trial::Phase::kBackward, "backward"},
    {trial::Phase::kTensorParallel, "tp"},
    {trial::Phase::kContextParallel, "cp"},
    {trial::Phase::kExpertParallel, "ep"},
    {trial::Phase::kPipeline, "pipeline"},
    {trial::Phase::kBubble, "bubble"},
    {trial::Phase::kDataParallel, "dp"},
    {trial::Phase::kOptimizer, "optimizer"},
    {trial::Phase::kOther, "other"},
}};

void PrintPhases(const std::vector<trial::RankResult>& ranks, std::ostream& out) {
  std::vector<std::pair<trial::Phase, const char*>> shown;
  for (const auto& column : kColumns) {
    const bool occurs = std::any_of(ranks.begin(), ranks.end(), [&](const trial::RankResult& rank) {
      return rank.phases[column.first] > 0.0;
    });
    if (occurs) shown.push_back(column);
  }
  if (shown.empty()) return;
  std::vector<std::string> header = {"rank"};
  for (const auto& [phase, name] : shown) header.emplace_back(name);
  Table table(std::move(header));
  for (const trial::RankResult& rank : ranks) {
    std::vector<std::string> row = {std::to_string(rank.rank)};
    for (const auto& [phase, name] : shown) row.push_back(Milliseconds(rank.phases[phase]));
    table.Add(std::move(row));
  }
  out << "\nmilliseconds of a step by what they go to, mean of the timed steps:\n";
  table.Print(out);
}

// Sums over the ranks that are part of such a group.
struct GroupSum {
  trial::CommunicationTotal total;
  double ranks = 0.0;
};

void PrintCommunication(const std::vector<trial::RankResult>& ranks, std::ostream& out) {
  constexpr double kMib = 1024.0 * 1024.0;
  std::map<std::pair<std::string, planner::CollectiveKind>, GroupSum> sums;
  for (const trial::RankResult& rank : ranks) {
    for (const trial::CommunicationTotal& total : rank.communication) {
      GroupSum& sum = sums[{total.group, total.operation}];
      sum.ranks += 1.0;
      sum.total.calls += total.calls;
      sum.total.bytes += total.bytes;
      sum.total.waited_s += total.waited_s;
      sum.total.under_way_s += total.under_way_s;
    }
  }
  if (sums.empty()) return;
  Table table({"group", "operation", "calls", "MiB", "ms waited", "ms under way"});
  for (const auto& [key, sum] : sums) {
    const double share = 1.0 / sum.ranks;
    table.Add({key.first, std::string(planner::CollectiveKindName(key.second)),
               absl::StrFormat("%.4g", share * sum.total.calls),
               absl::StrFormat("%.3f", share * sum.total.bytes / kMib),
               Milliseconds(share * sum.total.waited_s),
               Milliseconds(share * sum.total.under_way_s)});
  }
  out << "\ncommunication of a rank in a step, mean of the group's ranks:\n";
  table.Print(out);
}

std::string_view ReasonSentence(trial::StopReason reason) {
  switch (reason) {
    case trial::StopReason::kTight:
      return "the median is known precisely enough";
    case trial::StopReason::kBeaten:
      return "the median is significantly above the best median known";
    case trial::StopReason::kMostTime:
      return "the time for steps is used up";
    case trial::StopReason::kSteps:
    case trial::StopReason::kNone:
      break;
  }
  return "all steps that were allowed";
}

void PrintSteps(const trial::TrialResult& result, std::ostream& out) {
  const auto steps = static_cast<int32_t>(result.step_times_s.size());
  out << "steps: " << steps << ", " << steps - trial::FirstTimedStep(steps) << " of them timed ("
      << ReasonSentence(result.stop_reason) << ")";
  if (result.step_interval) {
    out << "; median between " << FormatSeconds(result.step_interval->low_s) << " and "
        << FormatSeconds(result.step_interval->high_s) << " with 95 %";
  }
  out << "\n";
}

void PrintNumbers(const char* name, const std::vector<double>& numbers, std::ostream& out) {
  if (numbers.empty()) return;
  out << name << ":";
  for (const double number : numbers) out << absl::StrFormat(" %.4f", number);
  out << "\n";
}

// Prints how unevenly tokens were routed to experts, where they were.
void PrintExpertLoad(const std::vector<trial::RankResult>& ranks, std::ostream& out) {
  const auto fullest = std::max_element(ranks.begin(), ranks.end(),
                                        [](const trial::RankResult& a, const trial::RankResult& b) {
                                          return a.expert_load < b.expert_load;
                                        });
  if (fullest == ranks.end() || fullest->expert_load <= 1.0) return;
  out << absl::StrFormat("experts of rank %d took up to %.3g times an even share of the tokens\n",
                         fullest->rank, fullest->expert_load);
}

void PrintMemory(const std::vector<trial::RankResult>& ranks, std::ostream& out) {
  const bool routed = std::any_of(ranks.begin(), ranks.end(), [](const trial::RankResult& rank) {
    return rank.estimated_routed_bytes.has_value();
  });
  std::vector<std::string> columns = {"rank", "pipeline rank", "peak bytes measured", "estimated"};
  if (routed) columns.push_back("as tokens went");
  const bool offloads = std::any_of(ranks.begin(), ranks.end(), [](const trial::RankResult& rank) {
    return rank.peak_host_bytes > 0;
  });
  if (offloads) columns.insert(columns.end(), {"on the host", "estimated"});
  Table table(columns);
  for (const trial::RankResult& rank : ranks) {
    std::vector<std::string> row = {std::to_string(rank.rank), std::to_string(rank.pipeline_rank),
                                    FormatCount(rank.peak_bytes),
                                    FormatCount(rank.estimated_bytes)};
    if (routed) row.push_back(FormatCount(rank.estimated_routed_bytes.value_or(0)));
    if (offloads) {
      row.push_back(FormatCount(rank.peak_host_bytes));
      row.push_back(FormatCount(rank.estimated_host_bytes));
    }
    table.Add(row);
  }
  table.Print(out);
}

// Prints the last lines of a command's log.
void PrintLogEnd(const std::string& log_end, std::ostream& out) {
  constexpr int kMostLines = 20;
  if (log_end.empty()) return;
  size_t begin = log_end.size();
  for (int line = 0; line <= kMostLines && begin != std::string::npos && begin > 0; ++line) {
    begin = log_end.rfind('\n', begin - 1);
  }
  out << "the end of its log:\n" << log_end.substr(begin == std::string::npos ? 0 : begin + 1);
  if (log_end.back() != '\n') out << "\n";
}

// Prints what a command's log told of the fullest rank.
void PrintCommandMemory(const std::vector<trial::RankResult>& ranks, std::ostream& out) {
  if (ranks.empty()) return;
  const trial::RankResult& rank = ranks.front();
  out << "\npeak bytes of the fullest rank: "
      << (rank.peak_bytes > 0 ? FormatCount(rank.peak_bytes) : "not in the log");
  if (rank.estimated_bytes > 0) out << ", estimated " << FormatCount(rank.estimated_bytes);
  out << "\n";
}

// Prints, for devices, what the allocators reserved for those peaks, and the memory outside them.
void PrintDeviceMemory(const std::vector<trial::RankResult>& ranks, std::ostream& out) {
  const bool told = std::any_of(ranks.begin(), ranks.end(), [](const trial::RankResult& rank) {
    return rank.device_memory.has_value();
  });
  if (!told) return;
  Table table(
      {"rank", "peak bytes reserved", "allocator retries", "communicators measured", "estimated"});
  for (const trial::RankResult& rank : ranks) {
    const trial::DeviceMemoryUse use = rank.device_memory.value_or(trial::DeviceMemoryUse());
    table.Add({std::to_string(rank.rank), FormatCount(use.peak_reserved_bytes),
               FormatCount(use.allocator_retries), FormatCount(use.communicator_bytes),
               FormatCount(rank.estimated_communicator_bytes)});
  }
  out << "\n";
  table.Print(out);
}

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

// `of_command`: the slice is a command's rank, whose time is not divided into parts.
void PrintParts(const trial::SliceResult& slice, bool of_command, std::ostream& out) {
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
  if (of_command) {
    add("rank alone", slice.step[planner::TimePart::kCompute], "measured");
  } else {
    add_all(planner::kMeasuredParts, "measured");
  }
  add_all(planner::kModelledParts, modelled);
  if (slice.step[planner::TimePart::kEp] > 0.0) {
    add(planner::PartName(planner::TimePart::kEp), slice.step[planner::TimePart::kEp], modelled);
  }
  add_all(planner::kSimulatedParts, of_command ? "modelled, in proportion to the rank's time"
                                               : "simulated from the parts above");
  add("step", slice.step.step_s(), "composed");
  out << (of_command ? "\nthe step, of the last rank:\n"
                     : "\nthe step of the rank that ends last:\n");
  table.Print(out);
}

void PrintPeakOfCommand(const trial::SliceStage& stage, std::ostream& out) {
  out << "\npeak of the rank: " << FormatCount(stage.peak_bytes) << " bytes measured, "
      << FormatCount(stage.estimated_bytes) << " estimated\n";
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

// Prints for every figure of a slice trial whether it was measured, modelled or simulated, and
// which peak MFU is a share of: that of `cluster`. Requires `result.slice`.
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
  const bool of_command = !result.command.empty();
  PrintParts(slice, of_command, out);
  if (of_command) {
    if (slice.stages.front().peak_bytes > 0) PrintPeakOfCommand(slice.stages.front(), out);
    out << "command: " << result.command << "\n";
    return;
  }
  PrintStages(slice, out);
  PrintCharges(slice, out);
}

}  // namespace

void PrintTrial(const planner::Layout& layout, const planner::Estimate& predicted,
                std::string_view cluster, const trial::TrialResult& result, std::ostream& out) {
  if (result.slice) return PrintSlice(layout, predicted, cluster, result, out);
  out << planner::FormatLayout(layout) << ": " << trial::TrialOutcomeName(result.outcome) << "\n";
  if (!result.message.empty()) out << result.message << "\n";
  if (!result.command.empty()) out << "command: " << result.command << "\n";
  if (result.outcome != trial::TrialOutcome::kOk) {
    if (result.outcome != trial::TrialOutcome::kOom) PrintLogEnd(result.log_end, out);
    return;
  }
  Table steps({"", "measured", "predicted"});
  steps.Add({"step time", FormatSeconds(result.step_s), FormatSeconds(predicted.time.step_s())});
  AddUtilisationRows(result, predicted, steps);
  steps.Print(out);
  PrintPeak(result, cluster, out);
  PrintSteps(result, out);
  PrintNumbers("losses", result.losses, out);
  PrintNumbers("gradient norms", result.gradient_norms, out);
  if (!result.command.empty()) return PrintCommandMemory(result.ranks, out);
  PrintMemory(result.ranks, out);
  PrintExpertLoad(result.ranks, out);
  PrintDeviceMemory(result.ranks, out);
  PrintPhases(result.ranks, out);
  PrintCommunication(result.ranks, out);
}

}  // namespace meshwright::cli

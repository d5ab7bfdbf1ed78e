#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "planner/codec/json_codec.h"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/wire_text.h"
#include "tools/cli/io/folded_text.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"
#include "tools/cli/sweep/sweep_calls.h"
#include "tools/cli/sweep/sweep_comparison.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

// Most lines of text about the differences in one part of the request, such as the cluster.
constexpr int kMostLinesOfAPart = 8;
constexpr size_t kWidestList = 60;

struct SweepCompareFlags {
  OutputFlags output;
  std::string a;
  std::string b;
};

absl::StatusOr<ReadSide> ReadSideOf(v1::Sweeps::Stub& stub, const std::string& id) {
  ASSIGN_OR_RETURN(const v1::Sweep sweep, ReadSweep(stub, id));
  ASSIGN_OR_RETURN(std::vector<TrialView> trials, ReadTrials(stub, id));
  ReadSide side;
  ASSIGN_OR_RETURN(side.shown, ViewOf(sweep, std::move(trials)));
  if (side.shown.trials.empty()) return side;
  // All plans of a sweep have one model and one training.
  v1::GetTrialRequest request;
  request.set_name(side.shown.trials.front().trial.name());
  ASSIGN_OR_RETURN(const v1::Trial trial, Call(stub, &v1::Sweeps::Stub::GetTrial, request));
  absl::StatusOr<nlohmann::ordered_json> plan = ParseOrderedJson("plan", trial.plan_json());
  if (plan.ok()) side.plan = *std::move(plan);
  return side;
}

std::string ValueText(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return FirstLine(value.get<std::string>());
  if (value.is_array() &&
      std::all_of(value.begin(), value.end(), [](const auto& one) { return one.is_string(); })) {
    const std::string joined = absl::StrJoin(value.get<std::vector<std::string>>(), ", ");
    return joined.size() <= kWidestList ? joined : absl::StrCat(value.size(), " entries");
  }
  return ShowJson(nlohmann::json(value));
}

// Returns "cluster" of "cluster.hardware.memory_bytes".
std::string PartOf(const std::string& field) { return field.substr(0, field.find('.')); }

void PrintDifferences(const SweepComparison& found, std::ostream& out) {
  if (found.differences.empty()) {
    out << "The requests are the same, and workers of one version on the same hosts ran them.\n\n";
    return;
  }
  Table table({"what differs", found.a, found.b});
  std::string part;
  int lines = 0;
  int left_out = 0;
  for (const FieldDifference& one : found.differences) {
    lines = PartOf(one.field) == part ? lines + 1 : 1;
    part = PartOf(one.field);
    if (lines > kMostLinesOfAPart) {
      ++left_out;
    } else {
      table.Add({one.field, ValueText(one.a), ValueText(one.b)});
    }
  }
  table.Print(out);
  if (left_out > 0) out << "and " << left_out << " more fields, which --format json lists\n";
  out << "\n";
}

std::string ChangeText(double change) { return absl::StrFormat("%+.1f %%", 100.0 * change); }

std::string NoiseText(const TimeChange& change) {
  switch (change.noise) {
    case Noise::kOutside:
      return change.change < 0.0 ? "faster" : "slower";
    case Noise::kWithin:
      return "within";
    case Noise::kUnknown:
      return "unknown";
    case Noise::kSameRun:
      return "same run";
  }
  return "";
}

std::string StepText(const ComparedTrial& trial) {
  return absl::StrCat(trial.step_s ? FormatSeconds(*trial.step_s) : trial.outcome,
                      trial.reused_from ? "+" : "");
}

std::string RangeText(const TimeChange& change) {
  if (!change.low) return "-";
  return absl::StrCat(ChangeText(*change.low), " to ", ChangeText(*change.high));
}

void PrintBoth(const SweepComparison& found, const TextStyle& style, std::ostream& out) {
  if (found.both.empty()) {
    out << "No layout ran in both.\n";
    return;
  }
  Table table({"layout", found.a, found.b, "change", "range", "noise"});
  bool any_reused = false;
  for (const LayoutPair& pair : found.both) {
    any_reused = any_reused || pair.a.reused_from || pair.b.reused_from;
    table.Add({LayoutText(pair.layout, style), StepText(pair.a), StepText(pair.b),
               pair.step ? ChangeText(pair.step->change) : "-",
               pair.step ? RangeText(*pair.step) : "-", pair.step ? NoiseText(*pair.step) : "-"});
  }
  table.StyleColumn(5, [](const std::string& noise) {
    if (noise == "faster") return Style::kGood;
    return noise == "slower" ? Style::kBad : Style::kPlain;
  });
  table.Print(out);
  const PairCounts& counts = found.counts;
  std::vector<std::string> parts = {
      absl::StrFormat("outside the noise %d faster and %d slower", counts.faster, counts.slower),
      absl::StrCat("within it ", counts.within_noise)};
  if (counts.unknown > 0) parts.push_back(absl::StrCat("too few steps to tell ", counts.unknown));
  if (counts.same_run > 0) parts.push_back(absl::StrCat("one and the same run ", counts.same_run));
  if (counts.outcome_changed > 0) {
    parts.push_back(absl::StrCat("another outcome ", counts.outcome_changed));
  }
  out << "\nRan in both: " << found.both.size() << "; " << absl::StrJoin(parts, ", ");
  if (counts.mean_change) out << "; mean change " << ChangeText(*counts.mean_change);
  out << ".\n";
  if (any_reused) out << "+ the result of an earlier sweep's trial\n";
}

void PrintOnly(const std::string& name, const OnlyThere& only, const TextStyle& style,
               std::ostream& out) {
  if (only.layouts == 0) return;
  std::vector<std::string> outcomes;
  outcomes.reserve(only.by_outcome.size());
  for (const auto& [outcome, count] : only.by_outcome) {
    outcomes.push_back(absl::StrCat(count, " ", outcome));
  }
  out << "Only in " << name << ": " << only.layouts << (only.layouts == 1 ? " layout" : " layouts")
      << " (" << absl::StrJoin(outcomes, ", ") << ")";
  if (only.best) {
    out << ", the best of them " << LayoutText(only.best->layout, style) << " with "
        << FormatSeconds(*only.best->step_s);
  }
  out << "\n";
}

void PrintBest(const std::string& name, const std::optional<ComparedTrial>& best,
               const TextStyle& style, Table& table) {
  if (!best) {
    table.Add({name, "-", "-", "-", "-"});
    return;
  }
  table.Add({name, LayoutText(best->layout, style), FormatSeconds(*best->step_s),
             best->step_low_s ? absl::StrCat(FormatSeconds(*best->step_low_s), " to ",
                                             FormatSeconds(*best->step_high_s))
                              : "-",
             best->mfu ? FormatPercent(*best->mfu) : "-"});
}

void Print(const SweepComparison& found, const TextStyle& style, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  PrintDifferences(found, out);
  Table best({"best of", "layout", "step", "95 % interval", "MFU"});
  PrintBest(found.a, found.best_a, style, best);
  PrintBest(found.b, found.best_b, style, best);
  best.Print(out);
  out << "\n" << found.verdict << ".\n\n";
  PrintBoth(found, style, out);
  PrintOnly(found.a, found.only_a, style, out);
  PrintOnly(found.b, found.only_b, style, out);
  for (const std::string& note : found.notes) out << "note: " << note << "\n";
}

absl::Status Compare(const SweepCompareFlags& flags, CommandContext& context) {
  const auto id_of = [](const std::string& typed, const char* field) {
    absl::StatusOr<std::string> id = SweepId(typed);
    return id.ok() ? id : WithField(id.status(), field);
  };
  ASSIGN_OR_RETURN(const std::string a, id_of(flags.a, "A"));
  ASSIGN_OR_RETURN(const std::string b, id_of(flags.b, "B"));
  if (a == b) {
    return FieldError("B", b, "must be another sweep than A; meshwright sweep list names them");
  }
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  ASSIGN_OR_RETURN(const ReadSide of_a, ReadSideOf(*stub, a));
  ASSIGN_OR_RETURN(const ReadSide of_b, ReadSideOf(*stub, b));
  const SweepComparison found = CompareSweeps(of_a, of_b);
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(found), context.out);
  } else {
    Print(found, flags.output.style, context.out);
  }
  return absl::OkStatus();
}

}  // namespace

void AddSweepCompareCommand(CLI::App& group, CommandContext& context) {
  auto flags = std::make_shared<SweepCompareFlags>();
  CLI::App* command = AddSweepAction(group, context, "compare",
                                     "Show what became faster from sweep A to sweep B by more than "
                                     "noise",
                                     flags, Compare);
  flags->output.AddFormat(*command);
  flags->output.AddLong(*command);
  command->add_option("A", flags->a, "Name of a sweep")->required()->option_text("A");
  command->add_option("B", flags->b, "Name of the sweep to compare with A")
      ->required()
      ->option_text("B");
  command_line::AddExample(*command, "meshwright sweep compare before after");
}

}  // namespace meshwright::cli

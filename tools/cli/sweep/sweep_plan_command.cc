#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/commands.h"
#include "tools/cli/io/folded_text.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/table.h"
#include "tools/cli/io/text.h"
#include "tools/cli/sweep/plan_fields.h"
#include "tools/cli/sweep/sweep_calls.h"
#include "tools/cli/sweep/sweep_text.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr size_t kMostRows = 20;  // of candidates in text

struct SweepPlanFlags {
  OutputFlags output;
  std::string name;
  int32_t trials = 3;
};

// Returns the candidates that did not run, by expected gain, largest first.
std::vector<const v1::Candidate*> LeftByGain(const v1::SweepPlan& plan) {
  std::vector<const v1::Candidate*> left;
  for (const v1::Candidate& candidate : plan.candidates()) {
    if (candidate.state() == v1::TRIAL_STATE_UNSPECIFIED) left.push_back(&candidate);
  }
  std::stable_sort(left.begin(), left.end(), [](const auto* a, const auto* b) {
    if (a->expected_gain() != b->expected_gain()) return a->expected_gain() > b->expected_gain();
    return a->step_s() < b->step_s();
  });
  return left;
}

void PrintPlan(const v1::SweepPlan& plan, const TextStyle& style, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  if (plan.related_results() > 0) out << CorrectedBy(plan) << "\n";
  int32_t place = 0;
  for (const v1::NextTrial& next : plan.trials()) {
    out << ++place << ". " << LayoutText(next.layout(), style) << "\n   candidate " << next.number()
        << ": " << next.reason() << "\n";
  }
  if (!plan.stop_reason().empty()) {
    out << (place == 0 ? "No trial runs next: " : "Then the sweep stops: ") << plan.stop_reason()
        << "\n";
  }
  const std::vector<const v1::Candidate*> left = LeftByGain(plan);
  if (left.empty()) return;
  out << "\nLayouts that have not run, as estimated after the trials so far:\n";
  Table table({"#", "layout", "predicted", "believed", "within", "out of memory", "expected gain"});
  for (size_t i = 0; i < std::min(left.size(), kMostRows); ++i) {
    const v1::Candidate& candidate = *left[i];
    table.Add({std::to_string(candidate.number()), LayoutText(candidate.layout(), style),
               FormatSeconds(candidate.predicted_step_s()), FormatSeconds(candidate.step_s()),
               FormatPercent(candidate.spread()), FormatPercent(candidate.oom_probability()),
               plan.has_best_step_s() ? FormatPercent(candidate.expected_gain()) : "-"});
  }
  table.Print(out);
  if (left.size() > kMostRows) {
    out << "and " << left.size() - kMostRows << " more: --format json lists all\n";
  }
}

absl::Status RunPlan(const SweepPlanFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string id, SweepId(flags.name));
  // The server checks the upper limit.
  RETURN_IF_ERROR(CheckPositive("trials", flags.trials));
  ASSIGN_OR_RETURN(const SweepsStub stub, DialSweeps(flags.output.server));
  ASSIGN_OR_RETURN(const v1::SweepPlan plan, ReadPlan(*stub, id, flags.trials));
  if (flags.output.format == OutputFormat::kText) {
    PrintPlan(plan, flags.output.style, context.out);
    return absl::OkStatus();
  }
  PrintJson(planner::WriteOrderedJson(SweepPlanText{id, plan}), context.out);
  return absl::OkStatus();
}

}  // namespace

void AddSweepPlanCommand(CLI::App& group, CommandContext& context) {
  auto flags = std::make_shared<SweepPlanFlags>();
  CLI::App* plan = AddSweepAction(group, context, "plan",
                                  "Show which trials a sweep would run next and why, "
                                  "without running them",
                                  flags, RunPlan);
  flags->output.AddFormat(*plan);
  flags->output.AddLong(*plan);
  plan->add_option("name", flags->name, "Name of the sweep")->required()->option_text("NAME");
  plan->add_option("--trials", flags->trials, "Number of trials to look ahead")
      ->capture_default_str()
      ->option_text("N");
  command_line::AddExample(*plan, "meshwright sweep plan tinystories-15m-1");
}

}  // namespace meshwright::cli

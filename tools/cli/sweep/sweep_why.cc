#include "tools/cli/sweep/sweep_why.h"

#include <algorithm>
#include <optional>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/wire/message_codec.h"
#include "planner/codec/json_codec.h"
#include "planner/policy/trial_policy.h"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/cli/common/wire_text.h"
#include "tools/cli/io/folded_text.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/text.h"
#include "tools/cli/sweep/plan_fields.h"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {
namespace {

struct Explained {
  std::optional<v1::Trial> trial;  // nullopt where it has not begun
  std::optional<v1::Candidate> candidate;
  v1::SweepPlan plan;

  const std::string& layout() const { return trial ? trial->layout() : candidate->layout(); }
};

absl::StatusOr<Explained> Read(v1::Sweeps::Stub& stub, const std::string& sweep, int32_t number) {
  RETURN_IF_ERROR(CheckRange("why", number, 1, INT32_MAX));
  Explained explained;
  ASSIGN_OR_RETURN(explained.plan, ReadPlan(stub, sweep, 1));
  const auto& all = explained.plan.candidates();
  const auto candidate = std::find_if(
      all.begin(), all.end(), [&](const v1::Candidate& one) { return one.number() == number; });
  if (candidate != all.end()) explained.candidate = *candidate;
  v1::GetTrialRequest request;
  request.set_name(FormatTrialName(sweep, number));
  absl::StatusOr<v1::Trial> trial = Call(stub, &v1::Sweeps::Stub::GetTrial, request);
  if (trial.ok()) {
    explained.trial = *std::move(trial);
  } else if (!absl::IsNotFound(trial.status())) {
    return trial.status();
  } else if (!explained.candidate) {
    return FieldError("why", number,
                      absl::StrCat("sweep ", sweep, " has no layout of this number: ",
                                   "meshwright sweep plan ", sweep, " lists them"));
  }
  return explained;
}

void PrintBelief(const Explained& explained, std::ostream& out) {
  const v1::Candidate& candidate = *explained.candidate;
  out << "predicted " << FormatSeconds(candidate.predicted_step_s())
      << " per step, out of memory with a probability of "
      << FormatPercent(candidate.predicted_oom_probability()) << "\n";
  out << "believed since trials ran: " << FormatSeconds(candidate.step_s()) << " within "
      << FormatPercent(candidate.spread()) << ", out of memory with a probability of "
      << FormatPercent(candidate.oom_probability()) << "\n";
  if (explained.plan.related_results() > 0) out << CorrectedBy(explained.plan) << "\n";
  if (explained.trial) return;
  if (explained.plan.has_best_step_s()) {
    out << "a trial is expected to find it faster than the best is believed to be by "
        << FormatPercent(candidate.expected_gain()) << "\n";
  }
  if (explained.plan.trials().empty()) {
    out << "it does not run: " << explained.plan.stop_reason() << "\n";
    return;
  }
  if (candidate.oom_probability() >= planner::TrialPolicyOptions().most_oom_probability) {
    out << "it does not run while it is more likely than not to run out of memory\n";
    return;
  }
  const v1::NextTrial& next = explained.plan.trials(0);
  if (next.number() == candidate.number()) {
    out << "it runs next: " << next.reason() << "\n";
  } else {
    out << "candidate " << next.number() << " runs before it: " << next.reason() << "\n";
  }
}

void Print(const Explained& explained, int32_t number, std::ostream& to) {
  FoldedText text(to);
  std::ostream& out = text.stream();
  out << (explained.trial ? "trial " : "candidate ") << number << ", " << explained.layout()
      << ": ";
  if (explained.trial) {
    out << StateName(explained.trial->state()) << " (" << FirstLine(explained.trial->reason())
        << ")\n";
    if (explained.trial->requested()) out << "the request named this layout\n";
    if (!explained.trial->reused_from().empty()) {
      out << "it has the result of " << ShortName(explained.trial->reused_from())
          << ", which ran the same layout with the same model, cluster and training\n";
    }
    for (const v1::Attempt& attempt : explained.trial->attempts()) {
      out << "attempt " << attempt.number() << ": "
          << (attempt.decision().empty() ? "why it ran was not kept" : attempt.decision()) << "\n";
    }
  } else {
    out << "has not run\n";
  }
  if (explained.candidate) PrintBelief(explained, out);
}

WhyText WhyTextOf(const Explained& explained, int32_t number) {
  WhyText why{.number = number,
              .layout = explained.layout(),
              .trial = explained.trial,
              .belief = std::nullopt,
              .stop_reason = explained.trial ? "" : explained.plan.stop_reason()};
  if (explained.candidate) why.belief = CandidateText{*explained.candidate};
  return why;
}

}  // namespace

absl::Status ExplainTrial(v1::Sweeps::Stub& stub, const std::string& sweep, int32_t number,
                          OutputFormat format, CommandContext& context) {
  ASSIGN_OR_RETURN(const Explained explained, Read(stub, sweep, number));
  if (format == OutputFormat::kJson) {
    PrintJson(planner::WriteOrderedJson(WhyTextOf(explained, number)), context.out);
  } else {
    Print(explained, number, context.out);
  }
  return absl::OkStatus();
}

}  // namespace meshwright::cli

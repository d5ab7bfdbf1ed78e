// SweepPlanText declares the fields that commands print about the trials that a sweep would run
// next, and WhyText those about the reason why a trial ran (planner/codec/fields.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/wire/message_codec.h"
#include "meshwright/v1/sweeps.pb.h"
#include "planner/codec/fields.h"
#include "tools/cli/sweep/sweep_fields.h"

namespace meshwright::cli {

struct CandidateText {
  v1::Candidate candidate;
};

template <typename Visitor>
void VisitFields(const CandidateText& text, Visitor& visit) {
  const v1::Candidate& candidate = text.candidate;
  visit("number", candidate.number());
  visit("layout", candidate.layout());
  visit(planner::NullUnless(candidate.state() != v1::TRIAL_STATE_UNSPECIFIED, "state"),
        StateName(candidate.state()));
  visit("predicted_step_s", candidate.predicted_step_s());
  visit("step_s", candidate.step_s());
  visit("spread", candidate.spread());
  visit("predicted_oom_probability", candidate.predicted_oom_probability());
  visit("oom_probability", candidate.oom_probability());
  visit("expected_gain", candidate.expected_gain());
}

struct NextTrialText {
  v1::NextTrial next;
};

template <typename Visitor>
void VisitFields(const NextTrialText& text, Visitor& visit) {
  const v1::NextTrial& next = text.next;
  visit("number", next.number());
  visit("layout", next.layout());
  visit(planner::NullUnless(next.has_expected_gain(), "expected_gain"), next.expected_gain());
  visit("reason", next.reason());
}

struct SweepPlanText {
  std::string sweep;
  v1::SweepPlan plan;
};

template <typename Visitor>
void VisitFields(const SweepPlanText& text, Visitor& visit) {
  const v1::SweepPlan& plan = text.plan;
  std::vector<NextTrialText> next;
  for (const v1::NextTrial& one : plan.trials()) next.push_back({one});
  std::vector<std::string> related;
  for (const std::string& sweep : plan.related_sweeps()) related.push_back(ShortName(sweep));
  std::vector<CandidateText> candidates;
  for (const v1::Candidate& one : plan.candidates()) candidates.push_back({one});
  visit(planner::OnlyInText({"sweep", "Name of the sweep"}), text.sweep);
  visit(planner::NullUnless(plan.has_best_step_s(), "best_step_s"), plan.best_step_s());
  visit(planner::Closed(planner::InMessage("trials", "next")), next);
  visit(NullWithout(plan.stop_reason(), "stop_reason"), plan.stop_reason());
  visit("related_results", int64_t{plan.related_results()});
  visit("related_sweeps", related);
  visit("candidates", candidates);
}

struct AttemptMemberText {
  v1::AttemptMember member;
};

template <typename Visitor>
void VisitFields(const AttemptMemberText& text, Visitor& visit) {
  const v1::AttemptMember& member = text.member;
  visit("agent", member.agent());
  visit("host", member.host());
  visit("first_rank", member.first_rank());
  visit("ranks", member.ranks());
  visit(planner::AtLeast(0, "first_device"), member.first_device());
  visit("failed", member.failed());
}

struct AttemptText {
  v1::Attempt attempt;
};

// The ways in which an attempt can end; empty while the attempt runs.
inline constexpr std::array<std::string_view, 9> kAttemptEnds = {
    "", "ok", "oom", "failed", "timeout", "cancelled", "lost", "returned", "broken"};

template <typename Visitor>
void VisitFields(const AttemptText& text, Visitor& visit) {
  const v1::Attempt& attempt = text.attempt;
  std::vector<AttemptMemberText> members;
  for (const v1::AttemptMember& member : attempt.members()) members.push_back({member});
  visit(planner::InMessage("number", "attempt"), attempt.number());
  visit("agent", attempt.agent());
  visit(planner::Closed("members"), members);
  visit("decision", attempt.decision());
  visit("policy_version", attempt.policy_version());
  visit(planner::Among(kAttemptEnds, "outcome"), wire::TextOf(attempt.outcome()));
  visit(planner::InMessage("reason", "end_reason"), attempt.reason());
  for (const char* name : {"host", "start_time", "end_time", "lease_end_time"}) {
    visit(planner::OnlyOnWire(name), planner::NoValue());
  }
}

// WhyText says why a layout of a sweep ran or did not run.
struct WhyText {
  int32_t number = 0;
  std::string layout;
  std::optional<v1::Trial> trial;  // nullopt if the layout is no trial
  std::optional<CandidateText> belief;
  std::string stop_reason;  // empty if the layout may run or has run
};

template <typename Visitor>
void VisitFields(const WhyText& why, Visitor& visit) {
  const v1::Trial trial = why.trial.value_or(v1::Trial());
  std::vector<AttemptText> attempts;
  for (const v1::Attempt& attempt : trial.attempts()) attempts.push_back({attempt});
  visit({"number", "Predicted rank among the sweep's candidates, from 1; the number of its trial"},
        why.number);
  visit({"layout", "Text form of the layout"}, why.layout);
  visit(planner::NullUnless(why.trial.has_value(),
                            {"state", "State of its trial; null where it has none"}),
        StateName(trial.state()));
  visit(planner::NullUnless(why.trial.has_value(),
                            {"reason", "Why the trial is in that state; null where there is none"}),
        trial.reason());
  visit(NullWithout(trial.reused_from(), {"reused_from",
                                          "Sweep and number of the trial whose result it has; null "
                                          "for one that ran itself"}),
        ShortName(trial.reused_from()));
  visit(planner::Closed({"decisions", "Of each attempt why it was given out, and how it ended"}),
        attempts);
  visit(planner::OrNull({"belief",
                         "What is believed of the layout since trials ran; null where too little "
                         "was kept of it"}),
        why.belief);
  visit(NullWithout(why.stop_reason, {"stop_reason",
                                      "Of a layout that has not run: why the sweep would not run "
                                      "it now; null where it may"}),
        why.stop_reason);
}

}  // namespace meshwright::cli

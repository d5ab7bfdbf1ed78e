// VisitFields() names the fields of EventDetails (planner/codec/fields.h).
#pragma once

#include "executor/trial/result_fields.h"
#include "executor/wire/event_details.h"
#include "planner/codec/fields.h"

namespace meshwright::wire {

template <planner::ConstOr<TrialPlaced> Placed, typename Visitor>
void VisitFields(Placed& placed, Visitor& visit) {
  visit("layout", placed.layout);
  visit("agent", placed.agent);
  visit("expected_gain", placed.expected_gain);
}

template <planner::ConstOr<TrialStep> Step, typename Visitor>
void VisitFields(Step& step, Visitor& visit) {
  visit("layout", step.layout);
  visit("step", step.step);
  visit(planner::InMessage("total_steps", "steps"), step.steps);
  visit("step_s", step.step_s);
  visit("loss", step.loss);
}

template <planner::ConstOr<TrialLeft> Left, typename Visitor>
void VisitFields(Left& left, Visitor& visit) {
  visit("layout", left.layout);
  visit("state", left.state);
  visit(planner::OnlyIf(!left.agent.empty(), "agent"), left.agent);
  visit("step_s", left.step_s);
  visit("step_low_s", left.step_low_s);
  visit("step_high_s", left.step_high_s);
  visit("mfu", left.mfu);
  visit("mfu_causal", left.mfu_causal);
  visit("peak_bytes", left.peak_bytes);
  visit(planner::OnlyIf(!left.message.empty(), "message"), left.message);
}

}  // namespace meshwright::wire

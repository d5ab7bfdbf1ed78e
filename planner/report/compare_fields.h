// Names the fields of answers that compare layouts, numbers of devices or sizes of a problem
// (planner/codec/fields.h).
#pragma once

#include "planner/codec/fields.h"
#include "planner/report/answer_fields.h"
#include "planner/report/comparison.h"
#include "planner/report/fastest_report.h"
#include "planner/report/limits_report.h"
#include "planner/report/scale_report.h"
#include "planner/report/study_report.h"

namespace meshwright::planner {

template <ConstOr<ComparedLayout> Compared, typename Visitor>
void VisitFields(Compared& compared, Visitor& visit) {
  const bool can_run = compared.rule.empty();
  visit("layout", compared.layout);
  visit(NullUnless(!can_run, "rule"), compared.rule);
  visit("fits", compared.fits);
  visit("sentence", compared.sentence);
  visit(OrNull("estimate"), compared.estimate);
  visit(OnlyIf(can_run, "place"), compared.place);
  visit(OnlyIf(can_run, "slower"), compared.slower);
  visit(OnlyIf(can_run, "because"), compared.because);
}

template <ConstOr<CompareAnswer> Answer, typename Visitor>
void VisitFields(Answer& answer, Visitor& visit) {
  visit("layouts", answer.layouts);
  visit("allowed_bytes", answer.allowed_bytes);
  visit("device_bytes", answer.device_bytes);
  visit("within", answer.within);
  visit("notes", answer.notes);
  visit("parameters", answer.parameters);
  VisitRestsOn(answer.rests_on, visit);
  visit("sentence", answer.sentence);
}

template <ConstOr<Energy> Drawn, typename Visitor>
void VisitFields(Drawn& energy, Visitor& visit) {
  visit("device_w", energy.device_w);
  visit("all_w", energy.all_w);
  visit("tokens_per_joule", energy.tokens_per_joule);
}

template <ConstOr<RunCost> Cost, typename Visitor>
void VisitFields(Cost& cost, Visitor& visit) {
  visit("seconds", cost.seconds);
  visit("device_hours", cost.device_hours);
  visit("price", cost.price);
  visit("joules", cost.joules);
}

template <ConstOr<ScalePoint> Point, typename Visitor>
void VisitFields(Point& point, Visitor& visit) {
  visit("gpus", point.devices);
  visit("global_batch", point.global_batch);
  visit("problem", point.problem);
  visit(OrNull("estimate"), point.best);
  visit("exposed", point.exposed);
  visit("energy", point.energy);
  visit(OrNull("marginal_return"), point.marginal_return);
  visit("change", point.change);
}

template <ConstOr<BudgetAnswer> Answer, typename Visitor>
void VisitFields(Answer& answer, Visitor& visit) {
  visit(OrNull("fewest_that_fit"), answer.fewest_that_fit);
  visit(OrNull("fewest_in_time"), answer.fewest_in_time);
  visit(OrNull("cheapest"), answer.cheapest);
  visit(OrNull("best"), answer.best);
}

template <ConstOr<ScaleAnswer> Answer, typename Visitor>
void VisitFields(Answer& answer, Visitor& visit) {
  visit("points", answer.points);
  visit("costs", answer.costs);
  visit("answer", answer.answer);
  visit("sentences", answer.sentences);
  visit("notes", answer.notes);
  visit("parameters", answer.parameters);
  VisitRestsOn(answer.rests_on, visit);
}

template <ConstOr<Arm> OneArm, typename Visitor>
void VisitFields(OneArm& arm, Visitor& visit) {
  visit("name", arm.name);
  visit("recommended", arm.recommended);
  visit("problem", arm.problem);
  visit(OrNull("estimate"), arm.best);
}

template <ConstOr<Ablation> OneAblation, typename Visitor>
void VisitFields(OneAblation& ablation, Visitor& visit) {
  visit("name", ablation.name);
  visit("recommendation", ablation.recommendation);
  visit("arms", ablation.arms);
  visit("verdict", ablation.verdict, kVerdictNames);
  visit(OrNull("gain"), ablation.gain);
  visit("sentence", ablation.sentence);
}

template <ConstOr<StudyAnswer> Answer, typename Visitor>
void VisitFields(Answer& answer, Visitor& visit) {
  visit("ablations", answer.ablations);
  visit("within", answer.within);
  visit("notes", answer.notes);
  visit("parameters", answer.parameters);
  VisitRestsOn(answer.rests_on, visit);
  visit("sentence", answer.sentence);
}

template <ConstOr<SizedRun> Run, typename Visitor>
void VisitFields(Run& run, Visitor& visit) {
  visit("gpus", run.devices);
  visit("global_batch", run.global_batch);
  visit("problem", run.problem);
  visit(OrNull("estimate"), run.best);
  visit("seconds", run.seconds);
  visit("network_bytes_per_s", run.network_bytes_per_s);
  visit("slow_network_factor", run.slow_network_factor);
}

template <ConstOr<ShortestRun> Shortest, typename Visitor>
void VisitFields(Shortest& shortest, Visitor& visit) {
  visit("strategy", shortest.strategy, kStrategyNames);
  visit("runs", shortest.runs);
  visit(OrNull("shortest"), shortest.shortest);
}

template <ConstOr<Claim> OneClaim, typename Visitor>
void VisitFields(OneClaim& claim, Visitor& visit) {
  visit("name", claim.name);
  visit("claim", claim.text);
  visit("verdict", claim.verdict, kVerdictNames);
  visit("sentence", claim.sentence);
}

template <ConstOr<FastestAnswer> Answer, typename Visitor>
void VisitFields(Answer& answer, Visitor& visit) {
  visit("strategies", answer.strategies);
  visit("claims", answer.claims);
  visit("device_bytes", answer.device_bytes);
  visit("network_bytes_per_s", answer.network_bytes_per_s);
  visit("notes", answer.notes);
  visit("parameters", answer.parameters);
  VisitRestsOn(answer.rests_on, visit);
}

template <ConstOr<Limit> OneLimit, typename Visitor>
void VisitFields(OneLimit& limit, Visitor& visit) {
  visit("kind", limit.kind, kLimitKindNames);
  visit(OrNull("asked"), limit.asked);
  visit(OrNull("largest"), limit.largest);
  visit(OrNull("estimate"), limit.best);
  visit("parameters", limit.parameters);
  visit(OrNull("next"), limit.next);
  visit(OrNull("over_bytes"), limit.over_bytes);
  visit("problem", limit.problem);
}

template <ConstOr<FitAnswer> Answer, typename Visitor>
void VisitFields(Answer& answer, Visitor& visit) {
  visit("limits", answer.limits);
  visit("allowed_bytes", answer.allowed_bytes);
  visit("sentences", answer.sentences);
  visit("notes", answer.notes);
  visit("parameters", answer.parameters);
  VisitRestsOn(answer.rests_on, visit);
}

}  // namespace meshwright::planner

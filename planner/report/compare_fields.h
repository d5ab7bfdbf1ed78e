// The fields of the answers that hold layouts or sizes side by side (planner/codec/fields.h).
#pragma once

#include "planner/codec/fields.h"
#include "planner/report/answer_fields.h"
#include "planner/report/comparison.h"
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
  visit("within", answer.within);
  visit("notes", answer.notes);
  visit("parameters", answer.parameters);
  visit("rests_on", answer.rests_on);
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
}

template <ConstOr<ScaleAnswer> Answer, typename Visitor>
void VisitFields(Answer& answer, Visitor& visit) {
  visit("points", answer.points);
  visit("costs", answer.costs);
  visit("answer", answer.answer);
  visit("sentences", answer.sentences);
  visit("notes", answer.notes);
  visit("parameters", answer.parameters);
  visit("rests_on", answer.rests_on);
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
  visit("rests_on", answer.rests_on);
  visit("sentence", answer.sentence);
}

}  // namespace meshwright::planner

// What a command prints of the planner's answer (planner/codec/fields.h): the answer's own fields,
// and between them what the caller knows, the question and how long it took.
#pragma once

#include <string_view>
#include <utility>

#include "planner/codec/fields.h"
#include "planner/report/answer_fields.h"
#include "planner/report/compare_fields.h"
#include "tools/cli/plan/request_fields.h"

namespace meshwright::cli {

template <typename Request, typename Answer>
struct AnswerText {
  Request request;
  Answer answer;
  double elapsed_s = 0.0;
};

using RecommendText = AnswerText<RecommendRequestText, planner::RecommendAnswer>;
using EstimateText = AnswerText<RequestText, planner::EstimateAnswer>;
using CompareText = AnswerText<RequestText, planner::CompareAnswer>;
using ScaleText = AnswerText<ScaleRequestText, planner::ScaleAnswer>;
using StudyText = AnswerText<StudyRequestText, planner::StudyAnswer>;
using FastestText = AnswerText<FastestRequestText, planner::FastestAnswer>;
using FitText = AnswerText<FitRequestText, planner::FitAnswer>;

inline constexpr planner::Field kRequestField = planner::OnlyInText({"request", "What was asked"});
inline constexpr planner::Field kElapsedField =
    planner::OnlyInText({"elapsed_s", "Time of the whole command, seconds"});

template <typename Request, typename Answer, typename Visitor>
void VisitFields(const AnswerText<Request, Answer>& text, Visitor& visit) {
  visit(kRequestField, text.request);
  visit(kElapsedField, text.elapsed_s);
  VisitFields(text.answer, visit);
}

// Visits for `visit` what `before(field)` makes of each field; it may visit others first.
template <typename Visitor, typename Before>
struct VisitorBehind {
  template <typename... Arguments>
  void operator()(const planner::Field& field, Arguments&&... arguments) {
    visit(before(field), std::forward<Arguments>(arguments)...);
  }
  template <typename T>
  void Derived(const planner::Field& field, const T& value) {
    visit.Derived(before(field), value);
  }

  Visitor& visit;
  const Before& before;
};

template <typename Visitor>
void VisitFields(const RecommendText& text, Visitor& visit) {
  const planner::PlanQuery& query = text.request.query;
  const auto before = [&](const planner::Field& field) {
    if (field.name == "parameters") visit(kRequestField, text.request);
    if (field.name == "allowed_bytes") visit(kElapsedField, text.elapsed_s);
    // Lists that may be empty though they were asked for.
    if (field.name == "front") return WhereSaid(query.pareto, field);
    if (field.name == "groups") return WhereSaid(query.best_per, field);
    return field;
  };
  VisitorBehind<Visitor, decltype(before)> behind{visit, before};
  VisitFields(text.answer, behind);
}

template <typename Visitor>
void VisitFields(const EstimateText& text, Visitor& visit) {
  const auto before = [&](const planner::Field& field) {
    if (field.name == "parameters") visit(kRequestField, text.request);
    if (field.name == "notes") visit(kElapsedField, text.elapsed_s);
    return field;
  };
  VisitorBehind<Visitor, decltype(before)> behind{visit, before};
  VisitFields(text.answer, behind);
}

}  // namespace meshwright::cli

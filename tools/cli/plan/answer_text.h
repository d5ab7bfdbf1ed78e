// AnswerText declares the fields of the planner's answers that commands print
// (planner/codec/fields.h). The request and the time that the command took are printed among the
// answer's own fields.
//
// A request is printed with the fields of its message. Presets and files are printed by name. An
// optional field is printed only if the user set it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "planner/catalog/plan_query.h"
#include "planner/codec/fields.h"
#include "planner/report/answer_fields.h"
#include "planner/report/compare_fields.h"
#include "planner/report/fastest_report.h"
#include "planner/report/scale_report.h"
#include "planner/spec/run_option_table.h"

namespace meshwright::cli {

// RequestText holds the fields that all requests have.
struct RequestText {
  planner::PlanQuery query;
  bool has_batch = true;  // false if the command searches for the best batch
};

template <typename Visitor>
void VisitFields(const RequestText& request, Visitor& visit) {
  const planner::PlanQuery& query = request.query;
  visit("model", query.model.name);
  visit("cluster", query.cluster.name);
  visit("framework", query.framework.name);
  visit("gpus", query.devices);
  visit("seq_len", query.training.seq_len);
  visit(planner::OnlyIf(request.has_batch, "global_batch"), query.training.global_batch);
  visit("dtype", std::string(planner::PrecisionName(query.training.precision)));
  visit("optimizer", std::string(query.training.optimizer.name));
  visit("imbalance", query.training.expert_load);
  visit(planner::OnlyIf(query.media_tokens.has_value(), "media_tokens"), query.media_tokens);
  const planner::RunOptions& options = query.training.options;
  for (const planner::RunOption& option : planner::kRunOptions) {
    visit(planner::OnlyIf(!HasDefault(option, options), planner::Field(option.name)),
          option.text(options));
  }
  visit(planner::OnlyIf(!query.measured.empty(), "measured"), query.measured);
}

constexpr planner::Field WhereSaid(const std::string& text, planner::Field field) {
  return planner::OnlyIf(!text.empty(), field);
}

struct RecommendRequestText {
  planner::PlanQuery query;
};

template <typename Visitor>
void VisitFields(const RecommendRequestText& request, Visitor& visit) {
  const planner::PlanQuery& query = request.query;
  visit(planner::Inside("plan"), RequestText{query});
  visit(planner::OnlyOnWire("top"), query.top);
  visit("max_oom_probability", query.max_oom_probability);
  visit(WhereSaid(query.offload, "offload"), query.offload);
  visit(WhereSaid(query.where, "where"), query.where);
  visit("time_limit_s", query.time_limit_s);
  visit(WhereSaid(query.objective, "objective"), query.objective);
  visit(WhereSaid(query.pareto, "pareto"), query.pareto);
  visit(WhereSaid(query.best_per, "best_per"), query.best_per);
  visit(planner::OnlyOnWire("mine"), query.mine);
  visit(planner::OnlyIf(!query.search.empty(), "search"), query.search);
}

struct StudyRequestText {
  planner::PlanQuery query;
};

template <typename Visitor>
void VisitFields(const StudyRequestText& request, Visitor& visit) {
  visit(planner::Inside("plan"), RequestText{request.query});
  visit(WhereSaid(request.query.where, "where"), request.query.where);
}

struct FitRequestText {
  planner::PlanQuery query;
  std::string layout;
};

template <typename Visitor>
void VisitFields(const FitRequestText& request, Visitor& visit) {
  const planner::PlanQuery& query = request.query;
  visit(planner::Inside("plan"), RequestText{query});
  visit(WhereSaid(request.layout, "layout"), request.layout);
  visit("max_oom_probability", query.max_oom_probability);
  visit(WhereSaid(query.offload, "offload"), query.offload);
  visit(WhereSaid(query.where, "where"), query.where);
}

// Returns the query with the smallest number of devices, which is printed as the plan's `gpus`.
inline planner::PlanQuery WithFewest(planner::PlanQuery query, const planner::DeviceRange& range) {
  query.devices = range.low;
  return query;
}

struct ScaleRequestText {
  planner::ScaleQuery query;
};

template <typename Visitor>
void VisitFields(const ScaleRequestText& request, Visitor& visit) {
  const planner::ScaleQuery& query = request.query;
  visit(planner::Inside("plan"), RequestText{WithFewest(query.plan, query.devices)});
  visit(planner::OnlyOnWire("gpus_low"), query.devices.low);
  visit("gpus_high", query.devices.high);
  visit("weak", query.weak);
  visit(planner::OnlyOnWire("refine"), query.refine);
  visit(WhereSaid(query.plan.where, "where"), query.plan.where);
  visit(WhereSaid(query.plan.objective, "objective"), query.plan.objective);
  visit(planner::OnlyIf(!query.plan.search.empty(), "search"), query.plan.search);
  visit("tokens", query.budget.tokens);
  visit("within_s", query.budget.within_s);
  visit("price_per_h", query.budget.price_per_h);
}

struct FastestRequestText {
  planner::FastestQuery query;
};

template <typename Visitor>
void VisitFields(const FastestRequestText& request, Visitor& visit) {
  const planner::FastestQuery& query = request.query;
  visit(planner::Inside("plan"),
        RequestText{.query = WithFewest(query.plan, query.devices), .has_batch = false});
  visit(planner::OnlyOnWire("gpus_low"), query.devices.low);
  visit("gpus_high", query.devices.high);
  visit("tokens", query.critical.tokens);
  visit("critical_batch", query.critical.batch);
  visit("overlap", query.overlap);
  visit(WhereSaid(query.plan.where, "where"), query.plan.where);
  visit(planner::OnlyIf(!query.plan.search.empty(), "search"), query.plan.search);
}

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

// VisitorBehind calls `visit` with before(field) for each field. `before` may visit other fields
// first.
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
    // These lists may be empty even if the user requested them.
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

#include "tools/cli/plan/planner_json.h"

#include <string>
#include <vector>

#include "planner/codec/json_codec.h"
#include "planner/report/answer_fields.h"
#include "planner/report/compare_fields.h"
#include "planner/report/estimate_json.h"
#include "planner/report/explain_json.h"

namespace meshwright::cli {
namespace {

using nlohmann::ordered_json;

ordered_json RequestToJson(const planner::PlanQuery& query) {
  return {{"model", query.model.name},
          {"cluster", query.cluster.name},
          {"framework", query.framework.name},
          {"gpus", query.devices},
          {"seq_len", query.training.seq_len},
          {"global_batch", query.training.global_batch},
          {"dtype", std::string(planner::PrecisionName(query.training.precision))},
          {"optimizer", std::string(query.training.optimizer.name)},
          {"imbalance", query.training.expert_load}};
}

ordered_json LayoutsToJson(const std::vector<planner::RankedLayout>& layouts) {
  ordered_json list = ordered_json::array();
  for (const planner::RankedLayout& ranked : layouts) {
    list.push_back(planner::LayoutToJson(ranked.layout, ranked.estimate));
  }
  return list;
}

}  // namespace

ordered_json ToJson(const planner::PlanQuery& query, const planner::RecommendAnswer& answer,
                    double elapsed_s) {
  const planner::SearchResult& result = answer.result;
  ordered_json request = RequestToJson(query);
  if (query.max_oom_probability) request["max_oom_probability"] = *query.max_oom_probability;
  if (!query.offload.empty()) request["offload"] = query.offload;
  if (!query.where.empty()) request["where"] = query.where;
  if (query.time_limit_s) request["time_limit_s"] = *query.time_limit_s;
  if (!query.objective.empty()) request["objective"] = query.objective;
  if (!query.pareto.empty()) request["pareto"] = query.pareto;
  if (!query.best_per.empty()) request["best_per"] = query.best_per;
  ordered_json object = {{"request", std::move(request)},
                         {"parameters", answer.parameters},
                         {"rests_on", ToJson(answer.rests_on)},
                         {"funnel", planner::FunnelToJson(result.funnel)},
                         {"elapsed_s", elapsed_s},
                         {"allowed_bytes", answer.allowed_bytes},
                         {"notes", answer.notes},
                         {"layouts", LayoutsToJson(result.layouts)},
                         {"ties", ToJson(result.ties)},
                         {"worth_a_trial", LayoutsToJson(result.worth_a_trial)}};
  if (result.nearest) {
    object["nearest"] = planner::LayoutToJson(result.nearest->layout, result.nearest->estimate);
    object["nearest"]["over_bytes"] = result.nearest_over_bytes;
  }
  if (result.partial) object["partial"] = planner::ToJson(*result.partial);
  if (!query.pareto.empty()) object["front"] = LayoutsToJson(result.front);
  if (!query.best_per.empty()) {
    ordered_json groups = ordered_json::array();
    for (const planner::GroupBest& group : result.groups) {
      groups.push_back(planner::WriteOrderedJson(group));
    }
    object["groups"] = std::move(groups);
  }
  if (answer.mine) object["mine"] = ToJson(*answer.mine);
  return object;
}

ordered_json ToJson(const planner::PlanQuery& query, const planner::EstimateAnswer& answer,
                    double elapsed_s) {
  ordered_json object = planner::LayoutToJson(answer.layout, answer.estimate);
  object["request"] = RequestToJson(query);
  object["parameters"] = answer.parameters;
  object["parameters_per_gpu"] = answer.parameters_per_gpu;
  object["rests_on"] = ToJson(answer.rests_on);
  object["fits"] = answer.fits();
  object["allowed_bytes"] = answer.allowed_bytes;
  object["elapsed_s"] = elapsed_s;
  object["notes"] = answer.notes;
  planner::AddExplanation(answer.ranked(), answer.explanation, object);
  return object;
}

ordered_json ToJson(const planner::PlanQuery& query, const planner::CompareAnswer& answer,
                    double elapsed_s) {
  ordered_json object = {{"request", RequestToJson(query)}, {"elapsed_s", elapsed_s}};
  object.update(planner::WriteOrderedJson(answer));
  return object;
}

ordered_json ToJson(const planner::PlanQuery& query, const planner::StudyAnswer& answer,
                    double elapsed_s) {
  ordered_json request = RequestToJson(query);
  if (!query.where.empty()) request["where"] = query.where;
  ordered_json object = {{"request", std::move(request)}, {"elapsed_s", elapsed_s}};
  object.update(planner::WriteOrderedJson(answer));
  return object;
}

ordered_json ToJson(const planner::FastestQuery& query, const planner::FastestAnswer& answer,
                    double elapsed_s) {
  ordered_json request = RequestToJson(query.plan);
  request.erase("global_batch");
  request["gpus"] = query.devices.low;
  request["gpus_high"] = query.devices.high;
  request["tokens"] = query.critical.tokens;
  request["critical_batch"] = query.critical.batch;
  request["overlap"] = query.overlap;
  if (!query.plan.where.empty()) request["where"] = query.plan.where;
  ordered_json object = {{"request", std::move(request)}, {"elapsed_s", elapsed_s}};
  object.update(planner::WriteOrderedJson(answer));
  return object;
}

ordered_json ToJson(const planner::PlanQuery& query, const std::string& layout,
                    const planner::FitAnswer& answer, double elapsed_s) {
  ordered_json request = RequestToJson(query);
  if (!layout.empty()) request["layout"] = layout;
  if (query.max_oom_probability) request["max_oom_probability"] = *query.max_oom_probability;
  if (!query.offload.empty()) request["offload"] = query.offload;
  if (!query.where.empty()) request["where"] = query.where;
  ordered_json object = {{"request", std::move(request)}, {"elapsed_s", elapsed_s}};
  object.update(planner::WriteOrderedJson(answer));
  return object;
}

ordered_json ToJson(const planner::ScaleQuery& query, const planner::ScaleAnswer& answer,
                    double elapsed_s) {
  ordered_json request = RequestToJson(query.plan);
  request["gpus"] = query.devices.low;
  request["gpus_high"] = query.devices.high;
  request["weak"] = query.weak;
  if (!query.plan.where.empty()) request["where"] = query.plan.where;
  if (!query.plan.objective.empty()) request["objective"] = query.plan.objective;
  const planner::Budget& budget = query.budget;
  if (budget.tokens) request["tokens"] = *budget.tokens;
  if (budget.within_s) request["within_s"] = *budget.within_s;
  if (budget.price_per_h) request["price_per_h"] = *budget.price_per_h;
  ordered_json object = {{"request", std::move(request)}, {"elapsed_s", elapsed_s}};
  object.update(planner::WriteOrderedJson(answer));
  return object;
}

}  // namespace meshwright::cli

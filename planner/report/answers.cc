#include "planner/report/answers.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "planner/catalog/catalog.h"
#include "planner/memory/layout_parameters.h"
#include "planner/report/amounts.h"
#include "planner/spec/parameters.h"
#include "planner/spec/status_macros.h"

namespace meshwright {

absl::StatusOr<RecommendAnswer> AnswerRecommend(const PlanQuery& query, int32_t host_cores) {
  ASSIGN_OR_RETURN(const SearchRequest request, Resolve(query, host_cores));
  ASSIGN_OR_RETURN(SearchResult result, Search(request));
  RecommendAnswer answer;
  if (request.mine) answer.mine = Report(*request.mine, result, MemoryCriterion(query));
  answer.result = std::move(result);
  answer.allowed_bytes = AllowedBytes(request);
  answer.notes = NotesOn(request.cluster, request.devices);
  answer.parameters = Parameters(request.model);
  answer.rests_on = RestsOnOf(request.cluster, request.profile);
  return answer;
}

absl::StatusOr<EstimateAnswer> AnswerEstimate(const PlanQuery& query, std::string_view text,
                                              int32_t host_cores) {
  ASSIGN_OR_RETURN(const SearchRequest request, Resolve(query, host_cores));
  ASSIGN_OR_RETURN(const Layout layout, ParseLayout(text));
  ASSIGN_OR_RETURN(const Estimate estimate, CheckAndEstimate(request, layout));
  const int64_t allowed_bytes = AllowedBytes(request.cluster);
  const EstimateContext context = ContextOf(request);
  return EstimateAnswer{layout,
                        estimate,
                        allowed_bytes,
                        NotesOn(request.cluster, request.devices),
                        Explain(context, {layout, estimate}, allowed_bytes),
                        Parameters(request.model),
                        LayoutParameters(context, layout).Most(),
                        RestsOnOf(request.cluster, request.profile)};
}

PresetNames AnswerPresets() { return {ModelNames(), ClusterNames(), ProfileNames()}; }

std::string MemoryCriterion(const PlanQuery& query) {
  if (!query.max_oom_probability) return "the 80 % memory rule";
  return "an OOM probability of " + Percent(*query.max_oom_probability);
}

std::vector<std::string> NotesOn(const ClusterSpec& cluster, int64_t devices) {
  std::vector<std::string> notes;
  const int64_t ranks = std::min<int64_t>(devices, cluster.devices_per_node);
  if (cluster.physical_cores > 0 && ranks > cluster.physical_cores) {
    notes.push_back(
        absl::StrFormat("%d ranks share %d physical cores: each has %.2f of a core's throughput",
                        ranks, cluster.physical_cores, ThroughputShare(cluster, ranks)));
  }
  return notes;
}

}  // namespace meshwright

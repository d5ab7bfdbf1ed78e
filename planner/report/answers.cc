#include "planner/report/answers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "planner/catalog/catalog.h"
#include "planner/spec/status_macros.h"

namespace meshwright {

absl::StatusOr<RecommendAnswer> AnswerRecommend(const PlanQuery& query, int32_t host_cores,
                                                Cancelled cancelled) {
  ASSIGN_OR_RETURN(SearchRequest request, Resolve(query, host_cores));
  request.cancelled = std::move(cancelled);
  ASSIGN_OR_RETURN(SearchResult result, Search(request));
  return RecommendAnswer{std::move(result), AllowedBytes(request),
                         NotesOn(request.cluster, request.devices)};
}

absl::StatusOr<EstimateAnswer> AnswerEstimate(const PlanQuery& query, std::string_view text,
                                              int32_t host_cores, const Cancelled& cancelled) {
  ASSIGN_OR_RETURN(const SearchRequest request, Resolve(query, host_cores));
  ASSIGN_OR_RETURN(const Layout layout, ParseLayout(text));
  ASSIGN_OR_RETURN(const Estimate estimate, CheckAndEstimate(request, layout));
  const int64_t allowed_bytes = AllowedBytes(request.cluster);
  Explanation explanation =
      Explain(ContextOf(request), {layout, estimate}, allowed_bytes, cancelled);
  if (cancelled && cancelled()) return absl::CancelledError("the estimate was cancelled");
  return EstimateAnswer{layout, estimate, allowed_bytes, NotesOn(request.cluster, request.devices),
                        std::move(explanation)};
}

PresetNames AnswerPresets() { return {ModelNames(), ClusterNames(), ProfileNames()}; }

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

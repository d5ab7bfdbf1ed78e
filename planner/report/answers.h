// Computes the answers of the planner as a user sees them, for commands and for a server.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "planner/report/cluster_preset.h"
#include "planner/report/explain.h"
#include "planner/report/model_preset.h"
#include "planner/report/parameter_counts.h"
#include "planner/report/profile_preset.h"
#include "planner/report/rests_on.h"
#include "planner/report/user_layout_report.h"
#include "planner/search/search.h"

namespace meshwright::planner {

struct RecommendAnswer {
  SearchResult result;
  int64_t allowed_bytes = 0;       // bytes per device that the query's memory criterion allows
  std::vector<std::string> notes;  // notes for readers of the figures
  ParameterCounts counts;
  RestsOn rests_on;
  std::optional<UserLayoutReport> mine;  // set if the query names a layout
};

struct EstimateAnswer {
  Layout layout;
  Estimate estimate;
  int64_t allowed_bytes = 0;  // bytes per device that the 80 % rule allows
  std::vector<std::string> notes;
  Explanation explanation;
  ParameterCounts counts;
  int64_t parameters_per_gpu = 0;  // parameters on the device that holds the most
  RestsOn rests_on;
  int64_t micro_batches = 0;  // micro-batches of a step on one rank, one after another
  int64_t tokens_per_step = 0;

  RankedLayout ranked() const { return {layout, estimate}; }
  bool fits() const { return estimate.memory.total_bytes() <= allowed_bytes; }
};

struct AllPresets {
  std::vector<ModelPreset> models;
  std::vector<ClusterPreset> clusters;
  std::vector<ProfilePreset> profiles;
};

// Returns the best layouts for the query. Returns every error of Resolve() and Search() as it is.
absl::StatusOr<RecommendAnswer> AnswerRecommend(const PlanQuery& query, int32_t host_cores,
                                                SearchRun run = {});
// Returns the estimate of `layout`, given in text form, and its explanation. Returns Cancelled once
// `cancelled` returns true.
absl::StatusOr<EstimateAnswer> AnswerEstimate(const PlanQuery& query, std::string_view layout,
                                              int32_t host_cores, const Cancelled& cancelled = {});
// Returns every preset. `host_cores` means the same as in FindCluster().
AllPresets AnswerPresets(int32_t host_cores);

// Returns the evidence behind the cluster and the framework profile of a query. Both get the names
// that the query uses.
RestsOn RestsOnOf(const PlanQuery& query, const SearchRequest& request);

// Returns the name of the query's memory criterion in answers, such as "the 80 % memory rule".
std::string MemoryCriterion(const PlanQuery& query);

// Returns notes for readers of an answer: on the model, the load of experts and the cluster.
std::vector<std::string> NotesOn(const PlanQuery& query, const SearchRequest& request);
// Returns notes on the cluster: one for each figure that is most likely in the wrong unit, one if
// ranks share processor cores, and one if the devices fill the last node only partly.
std::vector<std::string> NotesOn(const ClusterSpec& cluster, int64_t devices);

}  // namespace meshwright::planner

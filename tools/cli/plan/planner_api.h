// PlannerApi is the commands' interface to the planner, which runs in this process or in a server.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/report/answers.h"
#include "planner/report/comparison.h"
#include "planner/report/fastest_report.h"
#include "planner/report/limits_report.h"
#include "planner/report/scale_report.h"
#include "planner/report/study_report.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/server_flags.h"

namespace meshwright::cli {

class PlannerApi {
 public:
  virtual ~PlannerApi() = default;
  virtual absl::StatusOr<planner::RecommendAnswer> Recommend(const planner::PlanQuery& query) = 0;
  virtual absl::StatusOr<planner::EstimateAnswer> Estimate(const planner::PlanQuery& query,
                                                           std::string_view layout) = 0;
  virtual absl::StatusOr<planner::CompareAnswer> Compare(
      const planner::PlanQuery& query, const std::vector<std::string>& layouts) = 0;
  // `progress` is called from time to time, and may be empty.
  virtual absl::StatusOr<planner::ScaleAnswer> Scale(const planner::ScaleQuery& query,
                                                     const planner::ScaleProgress& progress) = 0;
  // `progress` is called from time to time, and may be empty.
  virtual absl::StatusOr<planner::StudyAnswer> Study(const planner::PlanQuery& query,
                                                     const planner::StudyProgress& progress) = 0;
  // `progress` is called from time to time, and may be empty.
  virtual absl::StatusOr<planner::FastestAnswer> Fastest(
      const planner::FastestQuery& query, const planner::ShortestProgress& progress) = 0;
  // An empty `layout` stands for any layout.
  virtual absl::StatusOr<planner::FitAnswer> Fit(const planner::PlanQuery& query,
                                                 std::string_view layout) = 0;
  virtual absl::StatusOr<planner::AllPresets> Presets() = 0;
};

// Returns the planner in this process, which uses every core. A search, here or on a server, ends
// with Cancelled once `context.interrupted` turns true. If `context.err` is a terminal, Recommend()
// shows its progress there once it takes a while. REQUIRES: the context outlives the planner.
std::unique_ptr<PlannerApi> LocalPlanner(const CommandContext& context);

// Returns the planner of the server. If `server` is empty, returns LocalPlanner(). REQUIRES: the
// context outlives the planner.
std::unique_ptr<PlannerApi> PlannerAt(const ServerFlags& server, const CommandContext& context);

}  // namespace meshwright::cli

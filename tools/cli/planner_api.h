// The planner as the commands see it: in this process, or a running server.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/report/answers.h"
#include "tools/cli/context.h"

namespace meshwright {

class PlannerApi {
 public:
  virtual ~PlannerApi() = default;
  virtual absl::StatusOr<RecommendAnswer> Recommend(const PlanQuery& query) = 0;
  virtual absl::StatusOr<EstimateAnswer> Estimate(const PlanQuery& query,
                                                  std::string_view layout) = 0;
  virtual absl::StatusOr<PresetNames> Presets() = 0;
};

// A search of either ends with Cancelled once `interrupted`, which outlives it, turns true.
std::unique_ptr<PlannerApi> LocalPlanner(int32_t host_cores, const std::atomic<bool>& interrupted);

// `server` is HOST:PORT; empty means in this process.
std::unique_ptr<PlannerApi> PlannerAt(const std::string& server, const CommandContext& context);

}  // namespace meshwright

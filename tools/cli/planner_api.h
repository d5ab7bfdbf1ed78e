// The planner as the commands see it: in this process, or a running server.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/report/answers.h"

namespace meshwright {

class PlannerApi {
 public:
  virtual ~PlannerApi() = default;
  virtual absl::StatusOr<RecommendAnswer> Recommend(const PlanQuery& query) = 0;
  virtual absl::StatusOr<EstimateAnswer> Estimate(const PlanQuery& query,
                                                  std::string_view layout) = 0;
  virtual absl::StatusOr<PresetNames> Presets() = 0;
};

std::unique_ptr<PlannerApi> LocalPlanner(int32_t host_cores);

// `server` is HOST:PORT; empty means in this process.
std::unique_ptr<PlannerApi> PlannerAt(const std::string& server, int32_t host_cores);

}  // namespace meshwright

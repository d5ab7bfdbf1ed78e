#include "tools/cli/planner_api.h"

namespace meshwright {
namespace {

class InProcessPlanner : public PlannerApi {
 public:
  explicit InProcessPlanner(int32_t host_cores) : host_cores_(host_cores) {}

  absl::StatusOr<RecommendAnswer> Recommend(const PlanQuery& query) override {
    return AnswerRecommend(query, host_cores_);
  }
  absl::StatusOr<EstimateAnswer> Estimate(const PlanQuery& query,
                                          std::string_view layout) override {
    return AnswerEstimate(query, layout, host_cores_);
  }
  absl::StatusOr<PresetNames> Presets() override { return AnswerPresets(); }

 private:
  int32_t host_cores_;
};

}  // namespace

std::unique_ptr<PlannerApi> LocalPlanner(int32_t host_cores) {
  return std::make_unique<InProcessPlanner>(host_cores);
}

}  // namespace meshwright

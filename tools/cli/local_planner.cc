#include "tools/cli/planner_api.h"

namespace meshwright {
namespace {

class InProcessPlanner : public PlannerApi {
 public:
  InProcessPlanner(int32_t host_cores, const std::atomic<bool>& interrupted)
      : host_cores_(host_cores), interrupted_(interrupted) {}

  absl::StatusOr<RecommendAnswer> Recommend(const PlanQuery& query) override {
    return AnswerRecommend(query, host_cores_, [this] { return interrupted_.load(); });
  }
  absl::StatusOr<EstimateAnswer> Estimate(const PlanQuery& query,
                                          std::string_view layout) override {
    return AnswerEstimate(query, layout, host_cores_, [this] { return interrupted_.load(); });
  }
  absl::StatusOr<PresetNames> Presets() override { return AnswerPresets(); }

 private:
  const int32_t host_cores_;
  const std::atomic<bool>& interrupted_;
};

}  // namespace

std::unique_ptr<PlannerApi> LocalPlanner(int32_t host_cores, const std::atomic<bool>& interrupted) {
  return std::make_unique<InProcessPlanner>(host_cores, interrupted);
}

}  // namespace meshwright

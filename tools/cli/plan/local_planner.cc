#include "tools/cli/plan/planner_api.h"

namespace meshwright::cli {
namespace {

class InProcessPlanner : public PlannerApi {
 public:
  InProcessPlanner(int32_t host_cores, const std::atomic<bool>& interrupted)
      : host_cores_(host_cores), interrupted_(interrupted) {}

  absl::StatusOr<planner::RecommendAnswer> Recommend(const planner::PlanQuery& query) override {
    return planner::AnswerRecommend(query, host_cores_, [this] { return interrupted_.load(); });
  }
  absl::StatusOr<planner::EstimateAnswer> Estimate(const planner::PlanQuery& query,
                                                   std::string_view layout) override {
    return planner::AnswerEstimate(query, layout, host_cores_,
                                   [this] { return interrupted_.load(); });
  }
  absl::StatusOr<planner::CompareAnswer> Compare(const planner::PlanQuery& query,
                                                 const std::vector<std::string>& layouts) override {
    return planner::AnswerCompare(query, layouts, host_cores_);
  }
  absl::StatusOr<planner::ScaleAnswer> Scale(const planner::ScaleQuery& query,
                                             const planner::ScaleProgress& progress) override {
    return planner::AnswerScale(
        query, host_cores_, [this] { return interrupted_.load(); }, progress);
  }
  absl::StatusOr<planner::PresetNames> Presets() override { return planner::AnswerPresets(); }

 private:
  const int32_t host_cores_;
  const std::atomic<bool>& interrupted_;
};

}  // namespace

std::unique_ptr<PlannerApi> LocalPlanner(int32_t host_cores, const std::atomic<bool>& interrupted) {
  return std::make_unique<InProcessPlanner>(host_cores, interrupted);
}

}  // namespace meshwright::cli

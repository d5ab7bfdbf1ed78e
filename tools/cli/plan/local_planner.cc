
#include "tools/cli/plan/planner_api.h"
#include "tools/cli/plan/search_line.h"

namespace meshwright::cli {
namespace {

class InProcessPlanner : public PlannerApi {
 public:
  explicit InProcessPlanner(const CommandContext& context) : context_(context) {}

  absl::StatusOr<planner::RecommendAnswer> Recommend(const planner::PlanQuery& query) override {
    SearchLine line(context_);
    planner::SearchRun run = {.threads = planner::ThreadsOfThisMachine(),
                              .cancelled = Cancelled(),
                              .progress = [&line](const planner::SearchProgress& progress) {
                                line.Show(progress.seen, progress.of);
                              }};
    return planner::AnswerRecommend(query, context_.host_cores, std::move(run));
  }
  absl::StatusOr<planner::EstimateAnswer> Estimate(const planner::PlanQuery& query,
                                                   std::string_view layout) override {
    return planner::AnswerEstimate(query, layout, context_.host_cores, Cancelled());
  }
  absl::StatusOr<planner::CompareAnswer> Compare(const planner::PlanQuery& query,
                                                 const std::vector<std::string>& layouts) override {
    return planner::AnswerCompare(query, layouts, context_.host_cores);
  }
  absl::StatusOr<planner::ScaleAnswer> Scale(const planner::ScaleQuery& query,
                                             const planner::ScaleProgress& progress) override {
    return planner::AnswerScale(
        query, context_.host_cores,
        {.threads = planner::ThreadsOfThisMachine(), .cancelled = Cancelled()}, progress);
  }
  absl::StatusOr<planner::StudyAnswer> Study(const planner::PlanQuery& query,
                                             const planner::StudyProgress& progress) override {
    return planner::AnswerStudy(
        query, context_.host_cores,
        {.threads = planner::ThreadsOfThisMachine(), .cancelled = Cancelled()}, progress);
  }
  absl::StatusOr<planner::FastestAnswer> Fastest(
      const planner::FastestQuery& query, const planner::ShortestProgress& progress) override {
    return planner::AnswerFastest(
        query, context_.host_cores,
        {.threads = planner::ThreadsOfThisMachine(), .cancelled = Cancelled()}, progress);
  }
  absl::StatusOr<planner::FitAnswer> Fit(const planner::PlanQuery& query,
                                         std::string_view layout) override {
    return planner::AnswerFit(
        query, layout, context_.host_cores,
        {.threads = planner::ThreadsOfThisMachine(), .cancelled = Cancelled()});
  }
  absl::StatusOr<planner::AllPresets> Presets() override {
    return planner::AnswerPresets(context_.host_cores);
  }

 private:
  planner::Cancelled Cancelled() const {
    return [this] { return context_.interrupted.load(); };
  }

  const CommandContext& context_;
};

}  // namespace

std::unique_ptr<PlannerApi> LocalPlanner(const CommandContext& context) {
  return std::make_unique<InProcessPlanner>(context);
}

}  // namespace meshwright::cli

#include <algorithm>
#include <ostream>

#include "absl/strings/str_format.h"
#include "tools/cli/io/terminal.h"
#include "tools/cli/io/text.h"
#include "tools/cli/plan/planner_api.h"

namespace meshwright::cli {
namespace {

// Seconds before a search says how far it is, and between two times that it does.
constexpr double kSecondsBetweenLines = 1.0;

// One line of a terminal that is written over and over, and gone when this ends.
class SearchLine {
 public:
  explicit SearchLine(const CommandContext& context)
      : context_(context),
        is_terminal_(TerminalOf(context.err).is_terminal),
        next_s_(context.now_s() + kSecondsBetweenLines) {}
  ~SearchLine() {
    if (shown_) context_.err << kClearLine << std::flush;
  }
  SearchLine(const SearchLine&) = delete;
  SearchLine& operator=(const SearchLine&) = delete;

  void Show(const planner::SearchProgress& progress) {
    if (!is_terminal_ || context_.now_s() < next_s_) return;
    next_s_ = context_.now_s() + kSecondsBetweenLines;
    shown_ = true;
    const double share =
        static_cast<double>(progress.seen) / static_cast<double>(std::max<int64_t>(1, progress.of));
    context_.err << kClearLine << "searched " << FormatPercent(share) << " of "
                 << FormatCount(progress.of) << " layouts" << std::flush;
  }

 private:
  static constexpr const char* kClearLine = "\r\x1b[K";

  const CommandContext& context_;
  const bool is_terminal_;
  double next_s_;
  bool shown_ = false;
};

class InProcessPlanner : public PlannerApi {
 public:
  explicit InProcessPlanner(const CommandContext& context) : context_(context) {}

  absl::StatusOr<planner::RecommendAnswer> Recommend(const planner::PlanQuery& query) override {
    SearchLine line(context_);
    planner::SearchRun run = {
        .threads = planner::ThreadsOfThisMachine(),
        .cancelled = Cancelled(),
        .progress = [&line](const planner::SearchProgress& progress) { line.Show(progress); }};
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
  absl::StatusOr<planner::PresetNames> Presets() override { return planner::AnswerPresets(); }

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

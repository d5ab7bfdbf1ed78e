#include "planner/report/user_layout_report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"

namespace meshwright::planner {
namespace {

std::string AgainstBest(const UserLayoutReport& report, const SearchResult& result) {
  const RankedLayout& best = result.layouts.front();
  const std::string steps =
      absl::StrFormat("a step takes %s instead of the best one's %s", Seconds(report.step_s),
                      Seconds(best.estimate.time.step_s()));
  if (report.slower < 0.0) return absl::StrCat(steps, ", ", Percent(-report.slower), " faster");
  std::string slower =
      absl::StrCat(steps, ", ", Percent(report.slower), " slower", Reasons(report.because));
  if (report.slower > result.ties.within) return slower;
  return absl::StrCat(
      slower, "; that is a tie: the estimate can't tell apart steps that differ by less than ",
      Percent(result.ties.within));
}

std::string SentenceOn(const UserLayoutReport& report, const SearchResult& result,
                       std::string_view criterion) {
  const std::vector<RankedLayout>& layouts = result.layouts;
  const std::string place = absl::StrCat("rank ", Grouped(report.rank), " of ", Grouped(report.of));
  const std::string against =
      layouts.empty() ? "" : absl::StrCat(": ", AgainstBest(report, result));
  if (!report.fits) {
    const std::string over =
        absl::StrCat("over ", std::string(criterion), " by ", Gib(report.over_bytes),
                     " (probability of running out of memory ", Percent(report.oom_probability),
                     "), so not ranked");
    return layouts.empty() ? absl::StrCat(over, "; nothing else fits either")
                           : absl::StrCat(over, "; with more memory it would be ", place, against);
  }
  if (report.rank == 1)
    return absl::StrCat(place, ": no layout that fits is predicted to be faster");
  return absl::StrCat(place, against);
}

}  // namespace

UserLayoutReport Report(const Layout& layout, const SearchResult& result,
                        std::string_view criterion) {
  const UserLayoutRank& standing = *result.mine;
  UserLayoutReport report;
  report.layout = FormatLayout(layout);
  if (standing.violation) {
    report.rule = std::string(RuleName(standing.violation->rule));
    report.sentence =
        absl::StrCat("can't run: ", Describe(*standing.violation), " (rule ", report.rule, ")");
    return report;
  }
  const Estimate& estimate = standing.estimate;
  report.fits = standing.over_bytes == 0;
  report.total_bytes = estimate.memory.total_bytes();
  report.over_bytes = standing.over_bytes;
  report.oom_probability = estimate.oom_probability;
  report.step_s = estimate.time.step_s();
  report.mfu = estimate.mfu;
  report.rank = standing.faster + 1;
  report.of = std::max(result.funnel.evaluated, report.rank);
  if (!result.layouts.empty()) {
    const TimeEstimate& best = result.layouts.front().estimate.time;
    report.slower = report.step_s / best.step_s() - 1.0;
    if (report.slower > 0.0) report.because = SlowerParts(estimate.time, best);
  }
  report.sentence = SentenceOn(report, result, criterion);
  return report;
}

}  // namespace meshwright::planner

#include "planner/report/scale_report.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/amounts.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/block/parameters.h"
#include "planner/report/answers.h"
#include "planner/search/asked_for.h"

namespace meshwright::planner {
namespace {

// The answer says from which size on more devices return less than this share of what they add.
constexpr double kDiminished = 0.75;

std::string Signed(double share) { return absl::StrFormat("%+.1f %%", share * 100.0); }

const ScalePoint* FirstThatFits(const std::vector<ScalePoint>& points) {
  const auto found = std::find_if(points.begin(), points.end(),
                                  [](const ScalePoint& point) { return point.best.has_value(); });
  return found == points.end() ? nullptr : &*found;
}

const ScalePoint* LastThatFits(const std::vector<ScalePoint>& points) {
  const auto found = std::find_if(points.rbegin(), points.rend(),
                                  [](const ScalePoint& point) { return point.best.has_value(); });
  return found == points.rend() ? nullptr : &*found;
}

void SayWhatScaleCosts(const std::vector<ScalePoint>& points, std::vector<std::string>& out) {
  const ScalePoint* first = FirstThatFits(points);
  const ScalePoint* last = LastThatFits(points);
  if (first == nullptr || first == last) return;
  const double per_device =
      last->best->estimate.tokens_per_s_per_gpu / first->best->estimate.tokens_per_s_per_gpu - 1.0;
  std::string sentence =
      absl::StrCat("From ", Grouped(first->devices), " to ", Grouped(last->devices),
                   " devices: tokens a second and device ", Signed(per_device));
  if (first->energy.device_w > 0.0) {
    absl::StrAppend(&sentence, ", power of a device ",
                    Signed(last->energy.device_w / first->energy.device_w - 1.0),
                    ", tokens a joule ",
                    Signed(last->energy.tokens_per_joule / first->energy.tokens_per_joule - 1.0));
  }
  out.push_back(absl::StrCat(sentence, ", exposed time ", Percent(first->exposed), " -> ",
                             Percent(last->exposed), " of a step."));
  const ScalePoint* diminished = nullptr;
  for (const ScalePoint& point : points) {
    if (!point.marginal_return) continue;
    if (*point.marginal_return >= kDiminished) diminished = nullptr;
    if (*point.marginal_return < kDiminished && diminished == nullptr) diminished = &point;
  }
  if (diminished == nullptr) return;
  out.push_back(absl::StrCat("From ", Grouped(diminished->devices),
                             " devices on more of them return less than ", Percent(kDiminished),
                             " of what they add (", Percent(*diminished->marginal_return), ")."));
}

void SayWhereTheKindChanges(const std::vector<ScalePoint>& points, std::vector<std::string>& out) {
  for (const ScalePoint& point : points) {
    if (point.change.empty()) continue;
    out.push_back(absl::StrCat("The best layout changes its kind at ", Grouped(point.devices),
                               " devices: ", point.change, "."));
  }
}

std::string CostText(const RunCost& cost, const Budget& budget) {
  std::string text =
      absl::StrCat(Duration(cost.seconds), ", ", Grouped(static_cast<int64_t>(cost.device_hours)),
                   " device-hours");
  if (budget.price_per_h) {
    absl::StrAppend(&text, ", price ", Grouped(static_cast<int64_t>(cost.price)));
  }
  if (cost.joules > 0.0) absl::StrAppendFormat(&text, ", %.4g MWh", cost.joules / 3.6e9);
  return text;
}

void SayWhatTheBudgetBuys(const ScaleAnswer& answer, const Budget& budget,
                          std::vector<std::string>& out) {
  const auto point = [&answer](int64_t i) -> const ScalePoint& {
    return answer.points[static_cast<size_t>(i)];
  };
  const auto size = [&point](int64_t i) {
    return absl::StrCat(Grouped(point(i).devices), " devices, ",
                        FormatLayout(point(i).best->layout));
  };
  const auto cost = [&](int64_t i) {
    return CostText(answer.costs[static_cast<size_t>(i)], budget);
  };
  const BudgetAnswer& found = answer.answer;
  if (!found.fewest_that_fit) {
    out.push_back("No size fits.");
    return;
  }
  out.push_back(absl::StrCat("Fewest that fit: ", size(*found.fewest_that_fit), "."));
  if (found.best) {
    out.push_back(absl::StrCat(
        "Best by ", std::string(meshwright::NameOf(kObjectiveNames, *budget.objective)),
        budget.within_s ? " of those in time: " : ": ", size(*found.best), "."));
  }
  if (!budget.tokens) return;
  if (budget.within_s && !found.fewest_in_time) {
    out.push_back(absl::StrCat("No size finishes within ", Duration(*budget.within_s), "."));
    return;
  }
  if (found.fewest_in_time) {
    out.push_back(absl::StrCat("Fewest that finish within ", Duration(*budget.within_s), ": ",
                               size(*found.fewest_in_time), ", ", cost(*found.fewest_in_time),
                               "."));
  }
  out.push_back(absl::StrCat(budget.within_s ? "Cheapest of those in time: " : "Cheapest: ",
                             size(*found.cheapest), ", ", cost(*found.cheapest), "."));
}

}  // namespace

absl::StatusOr<ScaleAnswer> AnswerScale(const ScaleQuery& query, int32_t host_cores, SearchRun run,
                                        const ScaleProgress& progress) {
  RETURN_IF_ERROR(CheckRange("gpus", query.devices.low, 1, kMostDevicesOfARange));
  RETURN_IF_ERROR(CheckRange("gpus", query.devices.high, query.devices.low, kMostDevicesOfARange));
  RETURN_IF_ERROR(Validate(query.budget));
  if (!query.plan.pareto.empty() || !query.plan.best_per.empty()) {
    return FieldError(query.plan.pareto.empty() ? "best_per" : "pareto",
                      query.plan.pareto.empty() ? query.plan.best_per : query.plan.pareto,
                      "applies to one number of devices; must be left out for a range, which has "
                      "one layout for each number");
  }
  PlanQuery plan = query.plan;
  plan.devices = query.devices.low;
  ASSIGN_OR_RETURN(SearchRequest request, Resolve(plan, host_cores));
  RETURN_IF_ERROR(CheckDevices(request.cluster, query.devices.high));
  RETURN_IF_ERROR(CheckAskedFor(request));
  request.run = std::move(run);
  if (query.budget.tokens && MeritOf(request.objective) != Merit::kSpeed) {
    return FieldError("objective", query.plan.objective,
                      "does not go with tokens: a run's time and price are those of the fastest "
                      "layout of each size");
  }
  Budget budget = query.budget;
  if (!query.plan.objective.empty()) budget.objective = request.objective;
  ScaleAnswer answer;
  if (query.refine) {
    ASSIGN_OR_RETURN(answer.points, PointsForBudget(request, query.devices, budget, progress));
  } else {
    ASSIGN_OR_RETURN(answer.points,
                     ScaleCurve(request, query.devices.Sizes(),
                                query.weak ? ScalingMode::kWeak : ScalingMode::kStrong, progress));
  }
  for (const ScalePoint& point : answer.points) {
    answer.costs.push_back(CostOfRun(point, budget));
  }
  answer.answer = Answer(answer.points, budget);
  SayWhatTheBudgetBuys(answer, budget, answer.sentences);
  SayWhatScaleCosts(answer.points, answer.sentences);
  SayWhereTheKindChanges(answer.points, answer.sentences);
  answer.notes = NotesOn(plan, request);
  answer.parameters = Parameters(request.model);
  answer.rests_on = RestsOnOf(plan, request);
  return answer;
}

}  // namespace meshwright::planner

#include "planner/search/search_accumulator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "planner/estimate/step_interval.h"
#include "planner/layout/layout_condition.h"
#include "planner/rules/refusal.h"
#include "planner/search/block_recompute.h"
#include "planner/search/module_recompute.h"
#include "planner/search/point_costs.h"

namespace meshwright::planner {
namespace {

// Returns the query heads of the layer that has the most.
int64_t MostHeads(const ModelSpec& model) {
  int64_t heads = 0;
  for (const LayerGroup& group : model.groups) heads = std::max(heads, group.attention.heads);
  return heads;
}

RecomputeModules ModulesThatRun(const SearchRequest& request, const RuleInput& planned) {
  const RecomputeModules modules = SearchedModules(planned);
  if (!request.runner) return modules;
  return modules.And(request.runner->profile.supports.recompute_modules);
}

RuleInput Searched(RuleInput input) {
  input.drops_dominated = true;
  return input;
}

std::optional<RuleInput> RunBy(const SearchRequest& request) {
  if (!request.runner) return std::nullopt;
  return RuleInputOf({request.model, request.cluster, request.training, request.runner->profile},
                     request.devices);
}

// A device draws least while it waits, so no layout makes more tokens per joule than one that waits
// during its whole step, with none of the device's memory filled.
double MostEnergyPerMfu(const SearchRequest& request) {
  const bool asked = MeritOf(request.objective) == Merit::kEnergy ||
                     std::find(request.pareto.begin(), request.pareto.end(), Merit::kEnergy) !=
                         request.pareto.end();
  if (!asked) return 0.0;
  const auto devices = static_cast<double>(request.devices);
  const PowerProfile& power = request.cluster.power;
  const double least_w = devices * std::min(power.compute_w, power.exposed_w);
  const TrainingSpec& training = request.training;
  const double flops_per_s =
      devices * RankPeakFlops(request.cluster, training.precision, request.devices);
  const double tokens =
      static_cast<double>(training.global_batch) * static_cast<double>(training.seq_len);
  return tokens * flops_per_s / StepFlopsOf(request.model, training).palm / least_w;
}

OptionValues ValuesOf(const SearchRequest& request) {
  return request.choices.empty() ? OptionValues() : request.choices.front().values;
}

int32_t OptionsChanged(const SearchRequest& request) {
  return request.choices.empty() ? 0 : request.choices.front().changed;
}

}  // namespace

void Dropped::Merge(const Dropped& other) {
  by_runner += other.by_runner;
  if (other.by_kernels && (!by_kernels || other.by_kernels_order < by_kernels_order)) {
    by_kernels = other.by_kernels;
    by_kernels_order = other.by_kernels_order;
  }
  if (smallest_batch == 0 || (other.smallest_batch > 0 && other.smallest_batch < smallest_batch)) {
    smallest_batch = other.smallest_batch;
  }
}

SearchAccumulator::SearchAccumulator(const SearchRequest& request, const SearchSpace& space,
                                     PointOrder first_order,
                                     const std::optional<UserLayoutRank>& mine)
    : request_(request),
      space_(space),
      first_order_(first_order),
      where_(request.where),
      context_(ContextOf(request)),
      planned_(RuleInputOf(context_, request.devices)),
      searched_(Searched(planned_)),
      runs_(RunBy(request)),
      modules_(ModulesThatRun(request, planned_)),
      allowed_bytes_(AllowedBytes(request)),
      trial_bytes_(BytesAtOomProbability(request, kTrialOomProbability)),
      has_hsdp_(request.profile.supports.has_hsdp),
      staged_(context_, request.devices),
      merit_(MeritOf(request.objective)),
      most_energy_per_mfu_((1.0 + kMfuSlack) * MostEnergyPerMfu(request)),
      ranking_(request.top, merit_),
      front_(request.pareto),
      groups_(request.best_per, merit_, ValuesOf(request)),
      ties_(StepSpread(request.cluster, request.profile), OptionsChanged(request)),
      mine_(mine) {
  if (!mine_ && request.mine) mine_ = Place(*request.mine);
}

// Passes what a walk reports to the accumulator.
class SearchAccumulator::Sink {
 public:
  Sink(SearchAccumulator& selection, const std::function<bool(int64_t)>& goes_on)
      : selection_(selection), goes_on_(goes_on) {}

  void EnterMesh(size_t ways_to_divide) { selection_.staged_.EnterMesh(ways_to_divide); }
  void Drop(const Violation& violation, int64_t points, PointOrder order) {
    selection_.funnel_.enumerated += points;
    selection_.Drop(violation, points, selection_.first_order_ + order);
  }
  // A layout that is estimated by itself may take milliseconds.
  int64_t Visit(const ValidPoint& point) {
    const bool is_staged = StagedEstimate::Covers(selection_.context_, point.layout);
    selection_.Visit(point, is_staged);
    return is_staged ? 1 : kPointsPerPoll;
  }
  bool GoesOn(int64_t points) const { return goes_on_(points); }

 private:
  SearchAccumulator& selection_;
  const std::function<bool(int64_t)>& goes_on_;
};

bool SearchAccumulator::VisitMesh(size_t mesh, const std::function<bool(int64_t)>& goes_on) {
  goes_on_ = &goes_on;
  Sink sink(*this, goes_on);
  return MeshWalk(searched_, space_, sink).Walk(mesh);
}

void SearchAccumulator::Visit(const ValidPoint& point, bool is_staged) {
  const Layout& layout = point.layout;
  order_ = first_order_ + point.order;
  ++funnel_.enumerated;
  if (point.is_first) {
    undivided_ = {};
    if (is_staged) staged_.EnterCell(layout, point.pipeline);
  }
  if (point.is_first || point.way != way_) keeping_all_is_over_ = false;
  way_ = point.way;
  if (const auto violation = CheckRunner(layout)) {
    ++dropped_.by_runner;
    return Drop(*violation, 1, order_);
  }
  const bool asked = where_.Matches(layout);
  if (!asked) {
    ++funnel_.left_out;
    if (!AsksForPartsOf(layout)) return;
  }
  if (is_staged) {
    const StagedCosts costs(staged_, layout, point.way, request_.cluster);
    asked ? Select(point, costs) : LookAtParts(layout, costs);
  } else {
    const PlannedCosts costs(context_, layout, allowed_bytes_);
    asked ? Select(point, costs) : LookAtParts(layout, costs);
  }
}

bool SearchAccumulator::AsksForPartsOf(const Layout& layout) const {
  const bool is_end = layout.recompute == Recompute::kNone || layout.recompute == Recompute::kFull;
  return is_end && (where_.Matches(WithBlockRecompute(layout, 1)) ||
                    where_.Matches(WithAllModules(WithModules(layout, {}), modules_)));
}

template <typename Costs>
void SearchAccumulator::LookAtParts(const Layout& layout, const Costs& costs) {
  const bool fits = costs.LeastBytes() <= allowed_bytes_;
  if (layout.recompute == Recompute::kNone) {
    keeping_all_is_over_ = !fits;
  } else if (fits && keeping_all_is_over_) {
    RecomputeLess(layout, costs);
    RecomputeModulesAlone(layout, costs);
  }
}

template <typename Costs>
Scores SearchAccumulator::MostScores(const Costs& costs, double most_mfu,
                                     int64_t least_bytes) const {
  Scores most;
  most[Merit::kSpeed] = most_mfu;
  most[Merit::kMemory] = -static_cast<double>(least_bytes);
  if (most_energy_per_mfu_ > 0.0) most[Merit::kEnergy] = most_energy_per_mfu_ * costs.MostMfu();
  return most;
}

template <typename Costs>
void SearchAccumulator::Select(const ValidPoint& point, const Costs& costs) {
  const Layout& layout = point.layout;
  Undivided& undivided = undivided_[static_cast<size_t>(layout.zero)][point.recompute];
  if (layout.shard_ranks > 0) {
    if (undivided.is_over) {
      ++funnel_.memory;
      if (layout.recompute == Recompute::kNone) keeping_all_is_over_ = true;
      return;
    }
    if (IsNoFaster(layout, costs, undivided)) return CountInvalid(Rule::kDominated, 1);
  }
  const int64_t least_bytes = costs.LeastBytes();
  if (layout.shard_ranks == 0) {
    undivided.is_over = least_bytes > std::max(allowed_bytes_, trial_bytes_);
    if (has_hsdp_ && least_bytes <= allowed_bytes_) undivided.mfu = costs.MostMfu();
  }
  if (least_bytes <= allowed_bytes_) {
    Rank(layout, costs, least_bytes);
    if (layout.recompute == Recompute::kFull && keeping_all_is_over_) {
      RecomputeLess(layout, costs);
      RecomputeModulesAlone(layout, costs);
    }
  } else {
    PutOver(layout, costs, least_bytes);
    if (layout.recompute == Recompute::kNone) keeping_all_is_over_ = true;
  }
}

// Differences below the costs' error are decided by single estimates.
template <typename Costs>
bool SearchAccumulator::IsNoFaster(const Layout& layout, const Costs& costs,
                                   const Undivided& undivided) const {
  const double mfu = costs.MostMfu();
  if (std::abs(mfu - undivided.mfu) > kMfuSlack * mfu) return mfu <= undivided.mfu;
  Layout whole = layout;
  whole.shard_ranks = 0;
  return MostMfuOf(context_, layout) <= MostMfuOf(context_, whole);
}

void SearchAccumulator::CountInvalid(Rule rule, int64_t points) {
  funnel_.invalid += points;
  funnel_.invalid_by_rule[static_cast<size_t>(rule)] += points;
}

void SearchAccumulator::Drop(const Violation& violation, int64_t points, PointOrder order) {
  CountInvalid(violation.rule, points);
  const int64_t divisor = violation.operands.divisor;
  if (violation.rule == Rule::kBatchDivision &&
      (dropped_.smallest_batch == 0 || divisor < dropped_.smallest_batch)) {
    dropped_.smallest_batch = divisor;
  }
  if (!dropped_.by_kernels && IsAboutKernels(violation.rule)) {
    dropped_.by_kernels = violation;
    dropped_.by_kernels_order = order;
  }
}

std::optional<Violation> SearchAccumulator::CheckRunner(Layout layout) const {
  if (!runs_) return std::nullopt;
  if (layout.attention == AttentionKernel::kDefault) layout.attention = request_.runner->attention;
  return CheckLayout(*runs_, layout);
}

// Ranks the layouts between recomputing nothing, which exceeds the memory, and `full`, which fits.
// Bisects the number of layers only if recomputing a single one would be fast enough to matter.
template <typename Costs>
void SearchAccumulator::RecomputeLess(const Layout& full, const Costs& costs) {
  const int64_t most = costs.MostLayersOfAChunk();
  if (most < 2) return;
  const Layout one = WithBlockRecompute(full, 1);
  if (CheckLayout(searched_, one) || CheckRunner(one)) return;
  if (!where_.Matches(one)) return;
  bool stops = false;  // what was found until then is not the answer
  int64_t bytes = 0;   // of the layout asked about last
  const auto fits = [&](const Layout& layout) {
    stops = stops || (Costs::kIsSlow && !(*goes_on_)(0));
    if (!stops) bytes = costs.Of(layout).LeastBytes();
    return stops || bytes <= allowed_bytes_;
  };
  if (!fits(WithBlockRecompute(one, most - 1)) || stops) return;
  const Costs of_one = costs.Of(one);
  const double most_mfu = (1.0 + kMfuSlack) * of_one.MostMfu();
  const bool matters = IsListed(one, MostScores(of_one, most_mfu, bytes)) || MayBeatMine(most_mfu);
  const Layout least = matters ? LeastBlockRecompute(one, most - 1, fits) : one;
  if (stops) return;
  ++order_;
  ++funnel_.enumerated;
  if (!matters) return CountFit(one);
  const Costs of_least = costs.Of(least);
  Rank(least, of_least, of_least.LeastBytes());
}

// The same for the modules of every layer. No set of them is faster than recomputing nothing.
template <typename Costs>
void SearchAccumulator::RecomputeModulesAlone(const Layout& full, const Costs& costs) {
  const Layout all = WithAllModules(WithModules(full, {}), modules_);
  if (modules_.empty() || !where_.Matches(all)) return;
  bool stops = false;
  int64_t bytes = 0;
  const auto fits = [&](const Layout& layout) {
    stops = stops || (Costs::kIsSlow && !(*goes_on_)(0));
    if (!stops) bytes = costs.Of(layout).LeastBytes();
    return stops || bytes <= allowed_bytes_;
  };
  if (!fits(all) || stops) return;
  const Layout none = WithModules(full, {});
  const Costs of_none = costs.Of(none);
  const double most_mfu = (1.0 + kMfuSlack) * of_none.MostMfu();
  const bool matters = IsListed(all, MostScores(of_none, most_mfu, bytes)) || MayBeatMine(most_mfu);
  const Layout least = matters ? LeastModules(none, modules_, fits) : all;
  if (stops) return;
  ++order_;
  ++funnel_.enumerated;
  if (!matters) return CountFit(all);
  const Costs of_least = costs.Of(least);
  Rank(least, of_least, of_least.LeastBytes());
}

UserLayoutRank SearchAccumulator::Place(const Layout& layout) const {
  UserLayoutRank standing;
  standing.violation = CheckLayout(planned_, layout);
  if (!standing.violation) standing.violation = CheckRunner(layout);
  if (standing.violation) return standing;
  standing.estimate = EstimateLayout(context_, layout);
  const int64_t bytes = standing.estimate.memory.total_bytes();
  standing.over_bytes = std::max<int64_t>(0, bytes - allowed_bytes_);
  return standing;
}

void SearchAccumulator::CountFit(const Layout& layout) {
  ++funnel_.evaluated;
  groups_.Count(layout);
}

// Only a layout that may beat those it competes with is estimated in full.
template <typename Costs>
void SearchAccumulator::Rank(const Layout& layout, const Costs& costs, int64_t least_bytes) {
  CountFit(layout);
  const MfuRange mfu = costs.MfuAt(least_bytes);
  if (!IsListed(layout, MostScores(costs, mfu.most, least_bytes))) {
    if (!MayBeatMine(mfu.most)) return;
    if (MayBeatMine(mfu.least)) {
      ++mine_->faster;
      return;
    }
  }
  const RankedLayout ranked{layout, EstimateLayout(context_, layout), ValuesOf(request_)};
  if (MayBeatMine(ranked.estimate.mfu)) ++mine_->faster;
  if (has_ties()) ties_.Offer(ranked, ScoresOf(ranked.estimate)[merit_], order_);
  ranking_.Offer(ranked, order_);
  front_.Offer(ranked, order_);
  groups_.Offer(ranked, order_);
}

// The layout nearest to fitting matters only if no layout fits. A trial that exceeds the memory
// criterion matters only if it beats every layout that fits.
template <typename Costs>
void SearchAccumulator::PutOver(const Layout& layout, const Costs& costs, int64_t least_bytes) {
  ++funnel_.memory;
  if (funnel_.evaluated == 0 && least_bytes < nearest_bytes_) {
    const int64_t bytes = EstimateMemory(context_, layout).total_bytes();
    if (bytes < nearest_bytes_) {
      nearest_bytes_ = bytes;
      nearest_ = layout;
      nearest_order_ = order_;
    }
  }
  if (least_bytes >= trial_bytes_ || merit_ != Merit::kSpeed) return;
  const double most_mfu = costs.MfuAt(least_bytes).most;
  if (most_mfu <= ranking_.BestScore() || !trials_.Takes(most_mfu)) return;
  const RankedLayout ranked{layout, EstimateLayout(context_, layout), ValuesOf(request_)};
  if (ranked.estimate.memory.total_bytes() < trial_bytes_) trials_.Offer(ranked, order_);
}

void SearchAccumulator::Merge(SearchAccumulator&& other) {
  funnel_.Add(other.funnel_);
  ranking_.Merge(std::move(other.ranking_));
  trials_.Merge(std::move(other.trials_));
  ties_.Merge(other.ties_);
  front_.Merge(other.front_);
  groups_.Merge(std::move(other.groups_));
  if (mine_) mine_->faster += other.mine_->faster;
  dropped_.Merge(other.dropped_);
  const auto nearness = [](const SearchAccumulator& selection) {
    return std::pair(selection.nearest_bytes_, selection.nearest_order_);
  };
  if (nearness(other) < nearness(*this)) {
    nearest_bytes_ = other.nearest_bytes_;
    nearest_ = other.nearest_;
    nearest_order_ = other.nearest_order_;
    nearest_of_ = other.nearest_of_;
  }
}

// Returns one sentence for a search space without a single valid layout. Points that only break a
// rule about the batch would run with another batch; where there are none, the devices do not
// divide the model.
absl::Status SearchAccumulator::NoValidLayout() const {
  if (funnel_.left_out > 0) {
    return FieldError("where", FormatLayoutCondition(request_.where),
                      absl::StrCat("matches none of the ", funnel_.left_out, " layouts of ",
                                   request_.devices, " devices that can run"));
  }
  const std::string none = absl::StrCat("none of ", funnel_.enumerated, " layouts of ",
                                        request_.devices, " devices can run this model");
  if (dropped_.by_runner > 0) {
    return FieldError("framework", request_.profile.name,
                      absl::StrCat("the worker runs none of the ", dropped_.by_runner,
                                   " layouts of ", request_.devices,
                                   " devices that this profile allows; must be a profile within "
                                   "the limits that meshwright-worker --capabilities prints"));
  }
  if (dropped_.by_kernels && IsAboutParts(*dropped_.by_kernels)) {
    return RefusalOf(request_.model, request_.profile, Layout(), *dropped_.by_kernels);
  }
  if (dropped_.by_kernels) {
    return FieldError("framework", request_.profile.name, Describe(*dropped_.by_kernels));
  }
  if (dropped_.smallest_batch > 0) {
    return FieldError("global_batch", request_.training.global_batch,
                      absl::StrCat(none, " with this batch; must be a multiple of ",
                                   dropped_.smallest_batch, " (dp * micro-batch)"));
  }
  const auto most =
      std::max_element(funnel_.invalid_by_rule.begin(), funnel_.invalid_by_rule.end());
  const auto rule = static_cast<Rule>(most - funnel_.invalid_by_rule.begin());
  std::string problem = absl::StrCat(none, "; ", *most, " of them break the rule ");
  problem.append(RuleName(rule));
  absl::StrAppend(&problem, "; must be a product of tp that divides ", MostHeads(request_.model),
                  " heads, pp that divides ", request_.model.layers(), " layers, cp and dp");
  return FieldError("gpus", request_.devices, problem);
}

absl::StatusOr<SearchResult> SearchAccumulator::Take() {
  if (funnel_.evaluated + funnel_.memory == 0) return NoValidLayout();
  SearchResult result;
  result.funnel = funnel_;
  trials_.DropNoBetterThan(ranking_.BestScore());
  result.worth_a_trial = trials_.Take();
  result.front = EvenlySpread(front_.Take(), kMostLayouts);
  result.groups = groups_.Take(kMostLayouts);
  result.layouts = ranking_.Take();
  result.ties = ties_.Take();
  result.mine = mine_;
  if (result.layouts.empty()) {
    result.nearest = RankedLayout{nearest_, EstimateLayout(ContextOf(*nearest_of_), nearest_),
                                  ValuesOf(*nearest_of_)};
    result.nearest_over_bytes = nearest_bytes_ - allowed_bytes_;
  }
  return result;
}

}  // namespace meshwright::planner

#include "planner/search/selection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "planner/base/field_error.h"
#include "planner/estimate/step_interval.h"
#include "planner/search/block_recompute.h"

namespace meshwright::planner {
namespace {

RuleInput Searched(RuleInput input) {
  input.drops_dominated = true;
  return input;
}

double MfuOf(const PlannedLayout& planned) { return EstimateLayout(planned, MemoryEstimate()).mfu; }

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

Selection::Selection(const SearchRequest& request, const SearchSpace& space)
    : request_(request),
      space_(space),
      context_(ContextOf(request)),
      planned_(RuleInputOf(context_, request.devices)),
      searched_(Searched(planned_)),
      allowed_bytes_(AllowedBytes(request)),
      trial_bytes_(BytesAtOomProbability(request, kTrialOomProbability)),
      ranking_(request.top),
      ties_(StepSpread(request.cluster, request.profile)) {
  if (request.mine) mine_ = Place(*request.mine);
}

void Selection::Visit(const Layout& layout) {
  ++order_;
  ++funnel_.enumerated;
  if (layout.recompute == Recompute::kNone) keeping_all_is_over_ = false;
  Undivided& undivided = undivided_[ModeOf(layout)];
  if (layout.shard_ranks == 0) undivided = Undivided();
  if (const auto violation = CheckLayout(searched_, layout)) {
    return Drop(*violation);
  }
  if (const auto violation = CheckRunner(layout)) {
    ++dropped_.by_runner;
    return Drop(*violation);
  }
  if (layout.shard_ranks > 0 && undivided.is_over) {
    ++funnel_.memory;
    if (layout.recompute == Recompute::kNone) keeping_all_is_over_ = true;
    return;
  }
  const PlannedLayout planned(context_, layout);
  if (layout.shard_ranks > 0 && MfuOf(planned) <= undivided.mfu) {
    return CountInvalid(Rule::kDominated);
  }
  const int64_t least_bytes = LeastBytes(planned);
  if (layout.shard_ranks == 0) {
    undivided.is_over = least_bytes > std::max(allowed_bytes_, trial_bytes_);
    if (least_bytes <= allowed_bytes_) undivided.mfu = MfuOf(planned);
  }
  if (least_bytes <= allowed_bytes_) {
    Rank(planned);
    if (layout.recompute == Recompute::kFull && keeping_all_is_over_) RecomputeLess(planned);
  } else {
    PutOver(planned, least_bytes);
    if (layout.recompute == Recompute::kNone) keeping_all_is_over_ = true;
  }
}

void Selection::CountInvalid(Rule rule) {
  ++funnel_.invalid;
  ++funnel_.invalid_by_rule[static_cast<size_t>(rule)];
}

void Selection::Drop(const Violation& violation) {
  CountInvalid(violation.rule);
  const int64_t divisor = violation.operands.divisor;
  if (violation.rule == Rule::kBatchDivision &&
      (dropped_.smallest_batch == 0 || divisor < dropped_.smallest_batch)) {
    dropped_.smallest_batch = divisor;
  }
  if (!dropped_.by_kernels && IsAboutKernels(violation.rule)) {
    dropped_.by_kernels = violation;
    dropped_.by_kernels_order = order_;
  }
}

std::optional<Violation> Selection::CheckRunner(Layout layout) const {
  if (!request_.runner) return std::nullopt;
  if (layout.attention == AttentionKernel::kDefault) layout.attention = request_.runner->attention;
  const EstimateContext runs = {request_.model, request_.cluster, request_.training,
                                request_.runner->profile};
  return CheckLayout(runs, request_.devices, layout);
}

// A lower bound of the memory, which is above what is allowed exactly where the memory is.
int64_t Selection::LeastBytes(const PlannedLayout& planned) const {
  const MemoryBounds bounds = BoundMemory(planned);
  if (bounds.least_bytes > allowed_bytes_ || bounds.most_bytes <= allowed_bytes_) {
    return bounds.least_bytes;
  }
  return EstimateMemory(planned).total_bytes();
}

// Between recomputing nothing, which is over, and `full`, which fits. Looks for the number of
// layers only where a single one would be fast enough to matter.
void Selection::RecomputeLess(const PlannedLayout& full) {
  const int64_t most = MostLayersOfAChunk(full);
  if (most < 2) return;
  const Layout one = WithBlockRecompute(full.layout(), 1);
  if (CheckLayout(searched_, one) || CheckRunner(one)) return;
  const auto fits = [this](const Layout& layout) {
    return LeastBytes(PlannedLayout(context_, layout)) <= allowed_bytes_;
  };
  if (!fits(WithBlockRecompute(one, most - 1))) return;
  ++order_;
  ++funnel_.enumerated;
  if (!Matters(MfuOf(PlannedLayout(context_, one)))) {
    ++funnel_.evaluated;
    return;
  }
  const Layout least = LeastBlockRecompute(one, most - 1, fits);
  Rank(PlannedLayout(context_, least));
}

Standing Selection::Place(const Layout& layout) const {
  Standing standing;
  standing.violation = CheckLayout(planned_, layout);
  if (!standing.violation) standing.violation = CheckRunner(layout);
  if (standing.violation) return standing;
  standing.estimate = EstimateLayout(context_, layout);
  const int64_t bytes = standing.estimate.memory.total_bytes();
  standing.over_bytes = std::max<int64_t>(0, bytes - allowed_bytes_);
  return standing;
}

// Without its memory a layout seems as fast as it could be: only one that seems faster than those
// it competes with is worked out in full.
void Selection::Rank(const PlannedLayout& planned) {
  ++funnel_.evaluated;
  const double most_mfu = MfuOf(planned);
  if (!Matters(most_mfu)) return;
  const Estimate estimate = EstimateLayout(planned);
  if (MayBeatMine(estimate.mfu)) ++mine_->faster;
  ties_.Offer(planned.layout(), estimate.mfu, order_);
  ranking_.Offer(planned.layout(), estimate, order_);
}

// The nearest is asked for only where nothing fits, and a trial only of what beats all that does.
void Selection::PutOver(const PlannedLayout& planned, int64_t least_bytes) {
  ++funnel_.memory;
  if (funnel_.evaluated == 0 && least_bytes < nearest_bytes_) {
    const int64_t bytes = EstimateMemory(planned).total_bytes();
    if (bytes < nearest_bytes_) {
      nearest_bytes_ = bytes;
      nearest_ = planned.layout();
      nearest_order_ = order_;
    }
  }
  if (least_bytes >= trial_bytes_) return;
  const double mfu = MfuOf(planned);
  if (mfu <= ranking_.BestMfu() || !trials_.Takes(mfu)) return;
  const MemoryEstimate memory = EstimateMemory(planned);
  if (memory.total_bytes() < trial_bytes_) {
    trials_.Offer(planned.layout(), EstimateLayout(planned, memory), order_);
  }
}

void Selection::Merge(Selection&& other) {
  funnel_.Add(other.funnel_);
  ranking_.Merge(std::move(other.ranking_));
  trials_.Merge(std::move(other.trials_));
  ties_.Merge(other.ties_);
  if (mine_) mine_->faster += other.mine_->faster;
  dropped_.Merge(other.dropped_);
  const auto nearness = [](const Selection& selection) {
    return std::pair(selection.nearest_bytes_, selection.nearest_order_);
  };
  if (nearness(other) < nearness(*this)) {
    nearest_bytes_ = other.nearest_bytes_;
    nearest_ = other.nearest_;
    nearest_order_ = other.nearest_order_;
  }
}

// One sentence for a search space without a single valid layout. Points that only break a rule
// about the batch would run with another one; where there are none, the devices do not divide the
// model.
absl::Status Selection::NoValidLayout() const {
  const std::string none = absl::StrCat("none of ", funnel_.enumerated, " layouts of ",
                                        request_.devices, " devices can run this model");
  if (dropped_.by_runner > 0) {
    return FieldError("framework", request_.profile.name,
                      absl::StrCat("the worker runs none of the ", dropped_.by_runner,
                                   " layouts of ", request_.devices,
                                   " devices that it allows; must be planned as "
                                   "meshwright-worker --capabilities says"));
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
  absl::StrAppend(&problem, "; must be a product of tp that divides ",
                  request_.model.groups.front().attention.heads, " heads, pp that divides ",
                  request_.model.layers(), " layers, cp and dp");
  return FieldError("gpus", request_.devices, problem);
}

absl::StatusOr<SearchResult> Selection::Take() {
  if (funnel_.evaluated + funnel_.memory == 0) return NoValidLayout();
  SearchResult result;
  result.funnel = funnel_;
  trials_.DropSlowerThan(ranking_.BestMfu());
  result.worth_a_trial = trials_.Take();
  result.layouts = ranking_.Take();
  result.ties = ties_.Take(context_);
  result.mine = mine_;
  if (result.layouts.empty()) {
    result.nearest = RankedLayout{nearest_, EstimateLayout(context_, nearest_)};
    result.nearest_over_bytes = nearest_bytes_ - allowed_bytes_;
  }
  return result;
}

}  // namespace meshwright::planner

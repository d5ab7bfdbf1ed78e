#include "planner/search/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"
#include "planner/estimate/step_interval.h"
#include "planner/search/block_recompute.h"
#include "planner/search/module_recompute.h"
#include "planner/search/space.h"
#include "planner/search/ties.h"

namespace meshwright::planner {
namespace {

constexpr int64_t kMaxDevices = 1 << 20;
constexpr int kZeroModes = 4;
constexpr int kRecomputeModes = 4;

// No estimate that could be of use fills a device this many times; keeps bytes inside 64 bits.
constexpr double kMostDevices = 1e6;

// Bytes that an estimate may fill at an OOM probability of `probability`: OomProbability()
// the other way round, so that the search compares whole numbers.
int64_t BytesAtOomProbability(const SearchRequest& request, double probability) {
  if (probability >= 1.0) return std::numeric_limits<int64_t>::max();
  const FrameworkProfile& profile = request.profile;
  const double fraction = profile.kept.oom_center +
                          profile.kept.oom_width * std::log(probability / (1.0 - probability));
  const auto memory_bytes = static_cast<double>(request.cluster.device.memory_bytes);
  return static_cast<int64_t>(std::clamp(fraction, 0.0, kMostDevices) * memory_bytes);
}

// The best layouts seen so far; ties go to the one that was enumerated first.
class Ranking {
 public:
  explicit Ranking(int32_t top) : top_(static_cast<size_t>(top)) { best_.reserve(top_ + 1); }

  void Offer(const Layout& layout, const Estimate& estimate) {
    if (!Takes(estimate.mfu)) return;
    const auto better = [](double mfu, const RankedLayout& other) {
      return mfu > other.estimate.mfu;
    };
    best_.insert(std::upper_bound(best_.begin(), best_.end(), estimate.mfu, better),
                 {layout, estimate});
    if (best_.size() > top_) best_.pop_back();
  }

  // Whether a layout with this MFU would be among them.
  bool Takes(double mfu) const { return best_.size() < top_ || mfu > best_.back().estimate.mfu; }

  // The fastest that was offered; 0 before the first.
  double BestMfu() const { return best_.empty() ? 0.0 : best_.front().estimate.mfu; }
  void DropSlowerThan(double mfu) {
    std::erase_if(best_, [mfu](const RankedLayout& other) { return other.estimate.mfu <= mfu; });
  }

  std::vector<RankedLayout> Take() { return std::move(best_); }

 private:
  size_t top_;
  std::vector<RankedLayout> best_;
};

// What a search without a single valid layout remembers of those that it dropped.
struct Dropped {
  int64_t by_runner = 0;                // valid for the framework, but not for what runs them
  std::optional<Violation> by_kernels;  // the first one of a rule about kernels
  int64_t smallest_batch = 0;           // that would divide; 0 where none would
};

// One sentence for a search space without a single valid layout. Points that only break a rule
// about the batch would run with another one; where there are none, the devices do not divide the
// model.
absl::Status NoValidLayout(const SearchRequest& request, const Funnel& funnel,
                           const Dropped& dropped) {
  const std::string none = absl::StrCat("none of ", funnel.enumerated, " layouts of ",
                                        request.devices, " devices can run this model");
  if (dropped.by_runner > 0) {
    return FieldError("framework", request.profile.name,
                      absl::StrCat("the worker runs none of the ", dropped.by_runner,
                                   " layouts of ", request.devices,
                                   " devices that it allows; must be planned as "
                                   "meshwright-worker --capabilities says"));
  }
  if (dropped.by_kernels) {
    return FieldError("framework", request.profile.name, Describe(*dropped.by_kernels));
  }
  if (dropped.smallest_batch > 0) {
    return FieldError("global_batch", request.training.global_batch,
                      absl::StrCat(none, " with this batch; must be a multiple of ",
                                   dropped.smallest_batch, " (dp * micro-batch)"));
  }
  const auto most = std::max_element(funnel.invalid_by_rule.begin(), funnel.invalid_by_rule.end());
  const auto rule = static_cast<Rule>(most - funnel.invalid_by_rule.begin());
  std::string problem = absl::StrCat(none, "; ", *most, " of them break the rule ");
  problem.append(RuleName(rule));
  absl::StrAppend(&problem, "; must be a product of tp that divides ",
                  request.model.groups.front().attention.heads, " heads, pp that divides ",
                  request.model.layers(), " layers, cp and dp");
  return FieldError("gpus", request.devices, problem);
}

// What is refused is known from the count alone: nothing of the space was walked.
absl::Status CheckSize(const SearchRequest& request, const SearchSpace& space) {
  if (space.size() <= kMostPoints) return absl::OkStatus();
  return FieldError("gpus", request.devices,
                    absl::StrFormat("the search space has %d layouts; must be at most %d: take a "
                                    "number of devices with fewer divisors (such as a power of "
                                    "two), a smaller global batch, or a framework with fewer "
                                    "schedules",
                                    space.size(), kMostPoints));
}

// Goes through the layouts and keeps what is asked for. Memory in full, the slowest part, is worked
// out only where bounds don't say what becomes of a layout.
class Selection {
 public:
  explicit Selection(const SearchRequest& request)
      : request_(request),
        context_(ContextOf(request)),
        planned_(RuleInputOf(context_, request.devices)),
        searched_(Searched(planned_)),
        modules_(ModulesThatRun(request, planned_)),
        allowed_bytes_(AllowedBytes(request)),
        trial_bytes_(BytesAtOomProbability(request, kTrialOomProbability)),
        ranking_(request.top),
        ties_(StepSpread(request.cluster, request.profile)) {
    if (request.mine) mine_ = Place(*request.mine);
  }

  void Visit(const Layout& layout) {
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
      if (layout.recompute == Recompute::kFull && keeping_all_is_over_) {
        RecomputeLess(planned);
        RecomputeModulesAlone(planned);
      }
    } else {
      PutOver(planned, least_bytes);
      if (layout.recompute == Recompute::kNone) keeping_all_is_over_ = true;
    }
  }

  absl::StatusOr<SearchResult> Take() {
    if (funnel_.evaluated + funnel_.memory == 0) {
      return NoValidLayout(request_, funnel_, dropped_);
    }
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

 private:
  static RuleInput Searched(RuleInput input) {
    input.drops_dominated = true;
    return input;
  }

  static RecomputeModules ModulesThatRun(const SearchRequest& request, const RuleInput& planned) {
    const RecomputeModules modules = SearchedModules(planned);
    if (!request.runner) return modules;
    return modules.And(request.runner->profile.supports.recompute_modules);
  }

  // What became of a layout that divides states among all replicas. HSDP, which divides among a
  // part of them, takes more memory, and is of use where it is faster.
  struct Undivided {
    bool is_over = false;  // even for a trial
    double mfu = 0.0;      // where it fits
  };

  // Of the layouts that follow each other in a search and differ in no other axis.
  static size_t ModeOf(const Layout& layout) {
    return static_cast<size_t>(layout.zero * kRecomputeModes) +
           static_cast<size_t>(layout.recompute);
  }

  void CountInvalid(Rule rule) {
    ++funnel_.invalid;
    ++funnel_.invalid_by_rule[static_cast<size_t>(rule)];
  }

  void Drop(const Violation& violation) {
    CountInvalid(violation.rule);
    const int64_t divisor = violation.operands.divisor;
    if (violation.rule == Rule::kBatchDivision &&
        (dropped_.smallest_batch == 0 || divisor < dropped_.smallest_batch)) {
      dropped_.smallest_batch = divisor;
    }
    if (!dropped_.by_kernels && IsAboutKernels(violation.rule)) dropped_.by_kernels = violation;
  }

  std::optional<Violation> CheckRunner(Layout layout) const {
    if (!request_.runner) return std::nullopt;
    if (layout.attention == AttentionKernel::kDefault) {
      layout.attention = request_.runner->attention;
    }
    const EstimateContext runs = {request_.model, request_.cluster, request_.training,
                                  request_.runner->profile};
    return CheckLayout(runs, request_.devices, layout);
  }

  // A lower bound of the memory, which is above what is allowed exactly where the memory is.
  int64_t LeastBytes(const PlannedLayout& planned) const {
    const MemoryBounds bounds = BoundMemory(planned);
    if (bounds.least_bytes > allowed_bytes_ || bounds.most_bytes <= allowed_bytes_) {
      return bounds.least_bytes;
    }
    return EstimateMemory(planned).total_bytes();
  }

  // Between recomputing nothing, which is over, and `full`, which fits. Looks for the number of
  // layers only where a single one would be fast enough to matter.
  void RecomputeLess(const PlannedLayout& full) {
    const int64_t most = MostLayersOfAChunk(full);
    if (most < 2) return;
    const Layout one = WithBlockRecompute(full.layout(), 1);
    if (CheckLayout(searched_, one) || CheckRunner(one)) return;
    const auto fits = [this](const Layout& layout) {
      return LeastBytes(PlannedLayout(context_, layout)) <= allowed_bytes_;
    };
    if (!fits(WithBlockRecompute(one, most - 1))) return;
    ++funnel_.enumerated;
    if (!Matters(MfuOf(PlannedLayout(context_, one)))) {
      ++funnel_.evaluated;
      return;
    }
    const Layout least = LeastBlockRecompute(one, most - 1, fits);
    Rank(PlannedLayout(context_, least));
  }

  // Likewise for the modules of every layer. No set of them is faster than recomputing nothing.
  void RecomputeModulesAlone(const PlannedLayout& full) {
    if (modules_.empty()) return;
    const Layout none = WithModules(full.layout(), {});
    const auto fits = [this](const Layout& layout) {
      return LeastBytes(PlannedLayout(context_, layout)) <= allowed_bytes_;
    };
    if (!fits(WithAllModules(none, modules_))) return;
    ++funnel_.enumerated;
    if (!Matters(MfuOf(PlannedLayout(context_, none)))) {
      ++funnel_.evaluated;
      return;
    }
    Rank(PlannedLayout(context_, LeastModules(none, modules_, fits)));
  }

  bool MayBeatMine(double mfu) const {
    return mine_ && !mine_->violation && mfu > mine_->estimate.mfu;
  }

  // Whether a layout of at most this MFU may have a place in the answer.
  bool Matters(double mfu) const {
    return MayBeatMine(mfu) || ranking_.Takes(mfu) || ties_.Takes(mfu);
  }

  static double MfuOf(const PlannedLayout& planned) {
    return EstimateLayout(planned, MemoryEstimate()).mfu;
  }

  Standing Place(const Layout& layout) const {
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
  void Rank(const PlannedLayout& planned) {
    ++funnel_.evaluated;
    const double most_mfu = MfuOf(planned);
    if (!Matters(most_mfu)) return;
    const Estimate estimate = EstimateLayout(planned);
    if (MayBeatMine(estimate.mfu)) ++mine_->faster;
    ties_.Offer(planned.layout(), estimate.mfu);
    ranking_.Offer(planned.layout(), estimate);
  }

  // The nearest is asked for only where nothing fits, and a trial only of what beats all that does.
  void PutOver(const PlannedLayout& planned, int64_t least_bytes) {
    ++funnel_.memory;
    if (funnel_.evaluated == 0 && least_bytes < nearest_bytes_) {
      const int64_t bytes = EstimateMemory(planned).total_bytes();
      if (bytes < nearest_bytes_) {
        nearest_bytes_ = bytes;
        nearest_ = planned.layout();
      }
    }
    if (least_bytes >= trial_bytes_) return;
    const double mfu = MfuOf(planned);
    if (mfu <= ranking_.BestMfu() || !trials_.Takes(mfu)) return;
    const MemoryEstimate memory = EstimateMemory(planned);
    if (memory.total_bytes() < trial_bytes_) {
      trials_.Offer(planned.layout(), EstimateLayout(planned, memory));
    }
  }

  const SearchRequest& request_;
  const EstimateContext context_;
  const RuleInput planned_;   // of a layout that the caller names
  const RuleInput searched_;  // of the search's own
  const RecomputeModules modules_;
  const int64_t allowed_bytes_;
  const int64_t trial_bytes_;
  Funnel funnel_;
  Ranking ranking_;
  Ranking trials_{kMostTrials};
  bool keeping_all_is_over_ = false;  // of the layout at hand, the memory without recompute
  std::array<Undivided, kZeroModes * kRecomputeModes> undivided_{};  // by ModeOf()
  TieFinder ties_;
  std::optional<Standing> mine_;
  Layout nearest_;
  int64_t nearest_bytes_ = std::numeric_limits<int64_t>::max();
  Dropped dropped_;
};

}  // namespace

int64_t AllowedBytes(const ClusterSpec& cluster) {
  return static_cast<int64_t>(kMemoryShare * static_cast<double>(cluster.device.memory_bytes));
}

int64_t AllowedBytes(const SearchRequest& request) {
  if (!request.max_oom_probability) return AllowedBytes(request.cluster);
  return BytesAtOomProbability(request, *request.max_oom_probability);
}

absl::Status ValidateRequest(const SearchRequest& request) {
  RETURN_IF_ERROR(Validate(request.model));
  RETURN_IF_ERROR(Validate(request.cluster));
  RETURN_IF_ERROR(Validate(request.training));
  RETURN_IF_ERROR(Validate(request.profile));
  return CheckRange("gpus", request.devices, 1, kMaxDevices);
}

absl::StatusOr<SearchResult> Search(const SearchRequest& request) {
  RETURN_IF_ERROR(ValidateRequest(request));
  RETURN_IF_ERROR(CheckRange("top", request.top, 1, kMostLayouts));
  if (request.max_oom_probability) {
    RETURN_IF_ERROR(CheckShare("max_oom_probability", *request.max_oom_probability));
  }
  const SearchSpace space(request.model, request.devices, request.training.global_batch,
                          request.profile, request.offloads);
  RETURN_IF_ERROR(CheckSize(request, space));
  Selection selection(request);
  int64_t visited = 0;
  const bool whole = space.ForEachWhile([&](const Layout& layout) {
    if (visited++ % kPointsPerPoll == 0 && request.cancelled && request.cancelled()) return false;
    selection.Visit(layout);
    return true;
  });
  if (!whole) return absl::CancelledError("the search was cancelled");
  return selection.Take();
}

absl::StatusOr<Estimate> CheckAndEstimate(const SearchRequest& request, const Layout& layout) {
  RETURN_IF_ERROR(ValidateRequest(request));
  const EstimateContext context = ContextOf(request);
  if (const auto violation = CheckLayout(context, request.devices, layout)) {
    return FieldError("layout", FormatLayout(layout), Describe(*violation));
  }
  return EstimateLayout(context, layout);
}

}  // namespace meshwright::planner

// SearchRequest is the input of a search, and SearchResult is its output.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "planner/correction/correction.h"
#include "planner/correction/own_run.h"
#include "planner/estimate/estimate.h"
#include "planner/layout/condition.h"
#include "planner/rules/rule_list.h"
#include "planner/search/group_bests.h"
#include "planner/search/objective.h"
#include "planner/search/ranked_layout.h"
#include "planner/search/search_run.h"

namespace meshwright::planner {

// The 80 % rule: the share of a device's memory that an estimate may fill. In the 454 experiments
// of Fujii et al. (arXiv 2411.06465), no layout whose estimate was below this share ran out of
// memory.
inline constexpr double kMemoryShare = 0.8;

// A layout below this probability of running out of memory is likely to fit.
inline constexpr double kLikelyProbability = 0.5;

// A layout that the memory criterion drops is worth a trial if its probability of running out of
// memory is below kTrialOomProbability. The value is chosen, not derived. It is below
// kLikelyProbability, so that a layout with an even chance is not called worth a trial. A search
// lists at most kMostTrials such layouts.
inline constexpr double kTrialOomProbability = 0.4;
inline constexpr int32_t kMostTrials = 5;

// The most points of a search. Rules drop most points in large groups: on one core, a search over
// the 79 million points of llama-3-405b on 6,720 devices takes 0.05 s. A search takes seconds if
// memory is computed exactly, as for Meshwright's own worker. A search on 16,384 devices has a few
// million points; on a number of devices with hundreds of divisors, it has billions.
inline constexpr int64_t kMostPoints = 100'000'000;

// The most layouts that one answer lists.
inline constexpr int32_t kMostLayouts = 1000;

// Counts the points by their outcome: enumerated == invalid + left_out + memory + evaluated.
struct Funnel {
  int64_t enumerated = 0;
  int64_t invalid = 0;    // points that break a rule
  int64_t left_out = 0;   // points that can run, but do not meet the request's condition
  int64_t memory = 0;     // points that can run, but that the memory criterion drops
  int64_t evaluated = 0;  // points that can run and fit
  std::array<int64_t, static_cast<size_t>(Rule::kCount)> invalid_by_rule{};

  void Add(const Funnel& other);

  friend bool operator==(const Funnel&, const Funnel&) = default;
};

// The result for a layout that the caller names, compared with the layouts that a search evaluates.
struct UserLayoutRank {
  std::optional<Violation> violation;  // why it can't run; if set, the other members are unset
  Estimate estimate;
  int64_t over_bytes = 0;  // bytes beyond the allowed memory of a device; 0 if it fits
  int64_t faster = 0;      // evaluated layouts that are faster
};

// The program that is to run the layouts, if it is not the framework of the request.
struct Runner {
  FrameworkProfile profile;
  // The attention kernel that the program runs for a layout that names none.
  AttentionKernel attention = AttentionKernel::kDefault;
};

struct SearchRequest {
  ModelSpec model;
  ClusterSpec cluster;
  TrainingSpec training;
  FrameworkProfile profile;
  int64_t devices = 0;
  int32_t top = 10;
  // If set, a layout must pass the rules under the runner's profile as well.
  std::optional<Runner> runner = std::nullopt;
  // The largest probability of running out of memory that a kept layout may have, above 0 and at
  // most 1. If no probability is set, the 80 % rule decides.
  std::optional<double> max_oom_probability = std::nullopt;
  // The offloads that the search tries in addition to no offload.
  std::vector<Offload> offloads = {};
  // The search looks only at layouts that meet this condition on the fields of a layout
  // (planner/layout/layout_condition.h).
  Condition where = {};
  // The objective by which the search ranks layouts.
  Objective objective = Objective::kMfu;
  // If not empty, the search also looks for the layouts that no other layout beats in all of these
  // merits.
  std::vector<Merit> pareto = {};
  // If not empty, the search also looks for the best layout for each combination of values of these
  // keys, as ParseGroupFields() returns them.
  std::vector<size_t> best_per = {};
  // A layout whose rank among the results the caller wants; it need not be in the search space.
  std::optional<Layout> mine = std::nullopt;
  // The options of `mine` that differ from the training's own.
  std::optional<OptionChoice> mine_options = std::nullopt;
  // The framework's profile under `mine_options`; null if it is `profile`.
  std::shared_ptr<const FrameworkProfile> mine_profile = nullptr;
  // If not empty, the search ranks layouts under each of these choices, which replace the
  // training's own options.
  std::vector<OptionChoice> choices = {};
  // The framework's profile under each of `choices`. Empty, or null for a choice, if it is
  // `profile`.
  std::vector<std::shared_ptr<const FrameworkProfile>> choice_profiles = {};
  // If set, the search ends after this many seconds with the best layouts so far. The value is
  // above 0.
  std::optional<double> time_limit_s = std::nullopt;
  // The user's own runs, and the correction of estimates that follows from them
  // (planner/catalog/own_runs.h). Without runs, the correction is null.
  std::vector<OwnRun> own_runs = {};
  std::shared_ptr<const Correction> correction = nullptr;
  SearchRun run = {};
};

// Returns a context that refers to the request's specs, which must outlive it.
inline EstimateContext ContextOf(const SearchRequest& request) {
  EstimateContext context = {request.model, request.cluster, request.training, request.profile};
  context.correction = request.correction.get();
  return context;
}

struct SearchResult {
  Funnel funnel;
  std::vector<RankedLayout> layouts;  // best first, at most `top`
  Ties ties;
  // Filled only if the objective ranks by speed. These layouts are faster than all kept layouts and
  // likely to fit (kTrialOomProbability), but the memory criterion drops them. Best MFU first, at
  // most kMostTrials.
  std::vector<RankedLayout> worth_a_trial;
  // The answer to `pareto`: at most kMostLayouts layouts, spread evenly over the front. The best
  // layout by the first merit comes first.
  std::vector<RankedLayout> front;
  // The answer to `best_per`: at most kMostLayouts groups. The group of the best layout comes
  // first.
  std::vector<GroupBest> groups;
  std::optional<RankedLayout> nearest;  // set if none fits: the layout that needs least memory
  int64_t nearest_over_bytes = 0;       // bytes by which `nearest` exceeds the allowed memory
  std::optional<UserLayoutRank> mine;   // the answer to the request's `mine`
  // Set if the time limit ended the search. All other members then describe only the points seen so
  // far.
  std::optional<SearchProgress> partial;
};

// Returns the bytes of a device that an estimate may fill under the 80 % rule.
int64_t AllowedBytes(const ClusterSpec& cluster);

// Returns the bytes of a device that an estimate may fill under the request's memory criterion: its
// OOM probability if it gives one, otherwise the 80 % rule.
int64_t AllowedBytes(const SearchRequest& request);

// Returns the bytes that an estimate fills if its OOM probability is `probability`. This function
// is the inverse of OomCurveOf(); with it the search compares whole numbers of bytes.
int64_t BytesAtOomProbability(const SearchRequest& request, double probability);

}  // namespace meshwright::planner

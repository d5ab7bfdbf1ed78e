// What a search is asked, and what it answers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "planner/estimate/estimate.h"
#include "planner/layout/condition.h"
#include "planner/rules/rule_list.h"
#include "planner/search/group_bests.h"
#include "planner/search/objective.h"
#include "planner/search/ranked_layout.h"
#include "planner/search/search_run.h"

namespace meshwright::planner {

// The 80 % rule: the share of a device's memory that an estimate may fill. Below it none of 454
// experiments went out of memory (Fujii et al., arXiv 2411.06465).
inline constexpr double kMemoryShare = 0.8;

// A layout that the memory criterion drops is worth a trial while its probability of running out of
// memory is below kTrialOomProbability. A search lists at most kMostTrials of them.
inline constexpr double kTrialOomProbability = 0.5;
inline constexpr int32_t kMostTrials = 5;

// The most points that a search goes through. Rules drop most of them at once: on one core 79
// million points of llama-3-405b on 6,720 devices take 0.05 s, and seconds where memory is that of
// the worker. 16,384 devices make a few million points; numbers of devices with hundreds of
// divisors make billions.
inline constexpr int64_t kMostPoints = 100'000'000;

// The most layouts that one answer lists.
inline constexpr int32_t kMostLayouts = 1000;

// How many points each pass dropped. enumerated == invalid + left_out + memory + evaluated.
struct Funnel {
  int64_t enumerated = 0;
  int64_t invalid = 0;
  int64_t left_out = 0;  // could run, but are not what the request's filter takes
  int64_t memory = 0;
  int64_t evaluated = 0;
  std::array<int64_t, static_cast<size_t>(Rule::kCount)> invalid_by_rule{};

  void Add(const Funnel& other);

  friend bool operator==(const Funnel&, const Funnel&) = default;
};

// The place of a layout that the caller names among those that a search evaluates.
struct UserLayoutRank {
  std::optional<Violation> violation;  // why it can't run; the other members are then not set
  Estimate estimate;
  int64_t over_bytes = 0;  // beyond what a device may hold; 0 where it fits
  int64_t faster = 0;      // evaluated layouts that are faster
};

// The program that is to run the layouts, where it is not the framework that they are planned for.
struct Runner {
  FrameworkProfile profile;
  // The attention kernel that it runs for a layout that names none.
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
  // most 1. Without it the 80 % rule decides.
  std::optional<double> max_oom_probability = std::nullopt;
  // What the search may move to the hosts, each in place of nothing. Empty: nothing is moved.
  std::vector<Offload> offloads = {};
  // What layouts it is about.
  Condition where = {};  // of LayoutFields() (planner/layout/layout_condition.h)
  // What ranks them.
  Objective objective = Objective::kMfu;
  // If not empty, the layouts that no other beats in all of these are looked for as well.
  std::vector<Merit> pareto = {};
  // If not empty, the best layout for each of the values that these keys of
  // planner/layout/keys.h have together.
  std::vector<size_t> best_per = {};
  // A layout whose standing is asked for; it need not be in the search space.
  std::optional<Layout> mine = std::nullopt;
  // After so many seconds, above 0, the best so far is the answer.
  std::optional<double> time_limit_s = std::nullopt;
  SearchRun run = {};
};

// Returns a context that refers to the request's specs, which must outlive it.
inline EstimateContext ContextOf(const SearchRequest& request) {
  return {request.model, request.cluster, request.training, request.profile};
}

struct SearchResult {
  Funnel funnel;
  std::vector<RankedLayout> layouts;  // best first, at most `top`
  Ties ties;
  // Where speed decides: dropped by the memory criterion, faster than all that were kept, and more
  // likely to fit than not. Best MFU first, at most kMostTrials.
  std::vector<RankedLayout> worth_a_trial;
  // Where the request asks for them: the best by the first merit first, and the group of the best
  // layout first. At most kMostLayouts each, of the front those that divide it evenly.
  std::vector<RankedLayout> front;
  std::vector<GroupBest> groups;
  std::optional<RankedLayout> nearest;  // when none fits: the one that is over by the least
  int64_t nearest_over_bytes = 0;       // by how much
  std::optional<UserLayoutRank> mine;   // of the layout that the request names
  // Set where the time limit ended the search: all of the above is about the points that it saw.
  std::optional<SearchProgress> partial;
};

// Returns the bytes of a device that an estimate may fill under the 80 % rule.
int64_t AllowedBytes(const ClusterSpec& cluster);

// The same under the memory criterion of `request`: its OOM probability, where it gives one.
int64_t AllowedBytes(const SearchRequest& request);

// Returns the bytes that an estimate fills at an OOM probability of `probability`: OomProbability()
// the other way round, so that the search compares whole numbers.
int64_t BytesAtOomProbability(const SearchRequest& request, double probability);

}  // namespace meshwright::planner

// The search: enumerate every layout, drop what can't run and what doesn't fit, rank the rest.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/estimate/estimate.h"
#include "planner/rules/rule_list.h"

namespace meshwright::planner {

// An estimate may fill this share of the device: below it no run went out of memory in 454
// experiments (Fujii et al., arXiv 2411.06465).
inline constexpr double kMemoryShare = 0.8;

// A layout that the memory criterion drops is worth a trial while it is more likely to fit than
// not; a search lists at most so many.
inline constexpr double kTrialOomProbability = 0.5;
inline constexpr int32_t kMostTrials = 5;

// A search goes through at most so many points. A core takes some ten seconds for them, a minute
// where memory is worked out as the worker's (0.4 and 2 us a point), and more for models of
// thousands of layers. 16,384 devices make 2 to 4 million; numbers of devices with hundreds of
// divisors reach billions.
inline constexpr int64_t kMostPoints = 20'000'000;

// Layouts that one answer lists, at most.
inline constexpr int32_t kMostLayouts = 1000;

// Whether nobody waits for the answer any more; may be empty. Called from the thread that searches,
// every kPointsPerPoll points.
using Cancelled = std::function<bool()>;
inline constexpr int64_t kPointsPerPoll = 64;

// How many points each pass dropped. enumerated == invalid + memory + evaluated.
struct Funnel {
  int64_t enumerated = 0;
  int64_t invalid = 0;
  int64_t memory = 0;
  int64_t evaluated = 0;
  std::array<int64_t, static_cast<size_t>(Rule::kCount)> invalid_by_rule{};

  friend bool operator==(const Funnel&, const Funnel&) = default;
};

struct RankedLayout {
  Layout layout;
  Estimate estimate;

  friend bool operator==(const RankedLayout&, const RankedLayout&) = default;
};

// Where a layout that the caller names stands among those that a search evaluates.
struct Standing {
  std::optional<Violation> violation;  // why it can't run; nothing else is known then
  Estimate estimate;
  int64_t over_bytes = 0;  // beyond what a device may hold; 0 where it fits
  int64_t faster = 0;      // evaluated layouts that are faster
};

// A program that is to run what is found, where that is not the framework that it is planned for.
struct Runner {
  FrameworkProfile profile;
  // What it runs where a layout leaves the kernel open.
  AttentionKernel attention = AttentionKernel::kDefault;
};

struct SearchRequest {
  ModelSpec model;
  ClusterSpec cluster;
  TrainingSpec training;
  FrameworkProfile profile;
  int64_t devices = 0;
  int32_t top = 10;
  // Where it is set a layout must pass the rules under its profile as well.
  std::optional<Runner> runner = std::nullopt;
  // What a kept layout may risk, above 0 and at most 1. Without it the 80 % rule decides.
  std::optional<double> max_oom_probability = std::nullopt;
  // A layout whose standing is asked for; it need not be in the search space.
  std::optional<Layout> mine = std::nullopt;
  Cancelled cancelled = {};
};

// Refers to the request's specs.
inline EstimateContext ContextOf(const SearchRequest& request) {
  return {request.model, request.cluster, request.training, request.profile};
}

struct SearchResult {
  Funnel funnel;
  std::vector<RankedLayout> layouts;  // best MFU first, at most `top`
  // Dropped by the memory criterion, faster than all that were kept, and more likely to fit than
  // not: best MFU first, at most kMostTrials.
  std::vector<RankedLayout> worth_a_trial;
  std::optional<RankedLayout> nearest;  // when none fits: the one that is over by the least
  int64_t nearest_over_bytes = 0;       // by how much
  std::optional<Standing> mine;         // of the layout that the request names
};

// Bytes of a device that an estimate may fill under the 80 % rule.
int64_t AllowedBytes(const ClusterSpec& cluster);

// The same under the criterion of `request`: its OOM probability where it names one.
int64_t AllowedBytes(const SearchRequest& request);

// InvalidArgument for a spec or a number that is out of range, for a search space of more than
// kMostPoints, and where no enumerated layout is valid (the message names the rule that dropped the
// most). Cancelled once `cancelled` says so. A search in which nothing fits is OK
// with `layouts` empty and `nearest` set; `worth_a_trial` may still name some.
absl::StatusOr<SearchResult> Search(const SearchRequest& request);

// The estimate of one layout. InvalidArgument when it can't run, naming the rule.
absl::StatusOr<Estimate> CheckAndEstimate(const SearchRequest& request, const Layout& layout);

}  // namespace meshwright::planner

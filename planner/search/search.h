// The search: enumerate every layout, drop what can't run and what doesn't fit, rank the rest.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/estimate/estimate.h"
#include "planner/search/rules.h"

namespace meshwright {

// An estimate may fill this share of the device: below it no run went out of memory in 454
// experiments (Fujii et al., arXiv 2411.06465).
inline constexpr double kMemoryShare = 0.8;

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
};

struct SearchRequest {
  ModelSpec model;
  ClusterSpec cluster;
  TrainingSpec training;
  FrameworkProfile profile;
  int64_t devices = 0;
  int32_t top = 10;
  // What can run beyond the profile's rules; a layout it refuses counts under Rule::kWorker. May be
  // empty.
  std::function<bool(const Layout&)> runnable;
};

// Refers to the request's specs.
inline EstimateContext ContextOf(const SearchRequest& request) {
  return {request.model, request.cluster, request.training, request.profile};
}

struct SearchResult {
  Funnel funnel;
  std::vector<RankedLayout> layouts;    // best MFU first, at most `top`
  std::optional<RankedLayout> nearest;  // when none fits: the one that is over by the least
  int64_t nearest_over_bytes = 0;       // by how much
};

// Bytes of a device that an estimate may fill.
int64_t AllowedBytes(const ClusterSpec& cluster);

// InvalidArgument for a spec or a number that is out of range, and where no enumerated layout is
// valid (the message names the rule that dropped the most). A search in which nothing fits is OK
// with `layouts` empty and `nearest` set.
absl::StatusOr<SearchResult> Search(const SearchRequest& request);

// The estimate of one layout. InvalidArgument when it can't run, naming the rule.
absl::StatusOr<Estimate> CheckAndEstimate(const SearchRequest& request, const Layout& layout);

}  // namespace meshwright

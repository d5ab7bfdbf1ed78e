// Estimates a layout for a different load of experts: the tokens that the fullest rank's experts
// take, as a multiple of the mean over ranks. How unevenly a router distributes tokens is known
// only once a model trains, so an answer for one load also gives the cost under a second load.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/profile/context.h"
#include "planner/search/ranked_layout.h"

namespace meshwright::planner {

// The second load of experts in an answer. If the query's own load is at least as high, balanced
// routing is the second load instead.
inline constexpr double kOtherImbalance = 1.2;

struct ImbalanceEffect {
  double imbalance = 1.0;   // the second load
  int64_t total_bytes = 0;  // memory of the fullest device
  double oom_probability = 0.0;
  double step_s = 0.0;
  std::string sentence;  // compares these figures with the layout's own

  friend bool operator==(const ImbalanceEffect&, const ImbalanceEffect&) = default;
};

// Returns the effect of the second load on a layout, or nullopt if the model has no experts.
// REQUIRES: CheckLayout() accepts the layout, and the estimate is the one under `context`.
std::optional<ImbalanceEffect> OtherImbalance(const EstimateContext& context,
                                              const RankedLayout& ranked);

// Returns a note for readers that says which load of experts an answer's figures assume.
std::string ImbalanceNote(double imbalance);

}  // namespace meshwright::planner

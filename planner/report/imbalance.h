// Estimates a layout under another load of the fullest rank's experts. How unevenly a router
// distributes tokens is known only once a model trains, so an answer for one load also gives the
// cost of another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/profile/context.h"
#include "planner/search/ranked_layout.h"

namespace meshwright::planner {

// The load that an answer compares with, over that of an average rank. Where the question has at
// least this load, it is compared with balanced routing instead.
inline constexpr double kOtherImbalance = 1.2;

struct ImbalanceEffect {
  double imbalance = 1.0;
  int64_t total_bytes = 0;  // on the fullest device
  double oom_probability = 0.0;
  double step_s = 0.0;
  std::string sentence;  // these figures compared with the layout's own

  friend bool operator==(const ImbalanceEffect&, const ImbalanceEffect&) = default;
};

// Returns the effect on a layout that CheckLayout() accepts, whose estimate under `context` is
// `ranked`; nullopt for models without experts.
std::optional<ImbalanceEffect> OtherImbalance(const EstimateContext& context,
                                              const RankedLayout& ranked);

// Returns the load that figures of a model with experts assume, for their reader.
std::string ImbalanceNote(double imbalance);

}  // namespace meshwright::planner

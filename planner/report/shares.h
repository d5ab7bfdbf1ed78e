// Computes the shares of experts and latent attention in a layout's memory and time, for its
// explanation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/profile/context.h"
#include "planner/search/ranked_layout.h"

namespace meshwright::planner {

struct ExpertShare {
  int64_t activations_bytes = 0;  // bytes that experts keep on the fullest device
  // Seconds of a step's expert all-to-alls that compute does not hide.
  double exposed_s = 0.0;
  std::string sentence;

  friend bool operator==(const ExpertShare&, const ExpertShare&) = default;
};

// Bytes of the fullest device's activations.
struct LatentShare {
  int64_t projected_bytes = 0;  // bytes of queries, keys and values of all heads
  int64_t latent_bytes = 0;     // bytes of the latents from which these are projected
  std::string sentence;

  friend bool operator==(const LatentShare&, const LatentShare&) = default;
};

// REQUIRES, for both functions: CheckLayout() accepts the layout, and the estimate is the one under
// `context`.

// Returns the share of the experts, or nullopt if the model has none.
std::optional<ExpertShare> ExpertShareOf(const EstimateContext& context,
                                         const RankedLayout& ranked);
// Returns the share of latent attention, or nullopt if the model has none.
std::optional<LatentShare> LatentShareOf(const EstimateContext& context,
                                         const RankedLayout& ranked);

}  // namespace meshwright::planner

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
  int64_t activations_bytes = 0;  // kept by experts on the fullest device
  double exposed_s = 0.0;         // of a step: the experts' all-to-alls that compute does not hide
  std::string sentence;

  friend bool operator==(const ExpertShare&, const ExpertShare&) = default;
};

// Parts of the fullest device's activations.
struct LatentShare {
  int64_t projected_bytes = 0;  // queries, keys and values of all heads
  int64_t latent_bytes = 0;     // the latents of those
  std::string sentence;

  friend bool operator==(const LatentShare&, const LatentShare&) = default;
};

// Return the shares for a layout that CheckLayout() accepts, with its estimate; nullopt for models
// without such a part.
std::optional<ExpertShare> ExpertShareOf(const EstimateContext& context,
                                         const RankedLayout& ranked);
std::optional<LatentShare> LatentShareOf(const EstimateContext& context,
                                         const RankedLayout& ranked);

}  // namespace meshwright::planner

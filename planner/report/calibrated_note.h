// Compares an answer with the prediction of the preset from which its cluster was calibrated, so
// that readers see what the calibration changes.
#pragma once

#include <optional>
#include <string>

#include "planner/estimate/estimate.h"
#include "planner/search/search.h"

namespace meshwright::planner {

// Returns a sentence with both step times of the layout. Returns nullopt if the request's cluster
// was not calibrated from a preset, or if the preset can't run the layout.
std::optional<std::string> CalibratedNote(const SearchRequest& request, const Layout& layout,
                                          const Estimate& estimate);

}  // namespace meshwright::planner

// Lists the kinds of layers that a layout runs, each with the operators of one layer and their
// times.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/cost/layer_timeline.h"
#include "planner/layout/layout.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Layers of one shape that recompute the same. Their time is that of one micro-batch on one rank,
// without the copies of offloaded tensors.
struct LayerKind {
  std::string name;  // what the layers consist of, such as "latent attention, 256 experts"
  int64_t layers = 0;
  bool recomputed = false;  // whether the backward repeats the layer from its input
  std::vector<OperatorTime> operators;
};

// Returns the kinds in the order in which they first appear. Layers that predict further tokens
// (multi-token prediction) and towers are left out. REQUIRES: CheckLayout() accepts the layout.
std::vector<LayerKind> LayerKindsOf(const EstimateContext& context, const Layout& layout);

}  // namespace meshwright::planner

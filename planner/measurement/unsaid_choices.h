// UnsaidChoices fills in choices of a run that its source does not state: the stages of layers that
// do not divide, the micro-batch and the recompute.
//
// Choices rest on the estimate alone, never on what the run measured: a row must not choose the
// prediction that it is compared with.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/measurement/measurement.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Returns the layout with all choices made.
//
// - Layers that the stages do not divide get stages with short ends.
// - An empty `mbs` is the fastest power of two among those that are likelier to fit than not, else
//   the one that is likeliest to fit; 1 if the rules accept none.
// - An empty `act_ckpt` is the least recompute that makes the layout likelier to fit than not, if
//   there is one: modules of layers, selective, blocks or all layers. It is none if that fits, or
//   nothing does.
Layout WithUnsaidChoices(const Measurement& row, const EstimateContext& context, int64_t devices,
                         Layout layout);

}  // namespace meshwright::planner

// UnsaidChoices fills in choices of a run that its source does not state: the micro-batch, the
// recompute, and the stages if their number does not divide the number of layers.
//
// Choices depend on the estimate alone, never on what the run measured: a measurement must not
// influence the prediction that it is compared with.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/measurement/measurement.h"
#include "planner/profile/context.h"

namespace meshwright::planner {

// Returns the layout with all choices made.
//
// - If the framework's own partition can't divide the layers over the stages (CanPartition()) but
//   the framework accepts stages of any lengths, the stages are those of SplitWithShortEnds().
// - If `mbs` is empty, the micro-batch is the fastest power of two that is likelier to fit than
//   not. If there is none, it is the power of two that is likeliest to fit, or 1 if the rules
//   accept none.
// - If `act_ckpt` is empty and nothing is offloaded, the recompute is none if the layout is then
//   likelier to fit than not. Otherwise, modules, selective, blocks of layers and all layers are
//   tried. The fastest of the layouts tried that are likelier to fit than not is taken, or no
//   recompute if there is none.
Layout WithUnsaidChoices(const Measurement& row, const EstimateContext& context, int64_t devices,
                         Layout layout);

}  // namespace meshwright::planner

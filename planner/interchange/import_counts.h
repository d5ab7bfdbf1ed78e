// Computes the devices, the batch and the chunks of a layout from the counts that a framework's
// files give.
#pragma once

#include "planner/interchange/import_state.h"

namespace meshwright::planner {

// Computes the devices from dp, or dp from the devices, from shards and copies, or from the batch;
// then the batch, and the ranks that divide states.
void CountDevices(ImportState& state);

// Computes the chunks of a pipeline rank from the layers of a chunk, and sets the schedule and etp
// if the files do not give them.
void CountChunks(ImportState& state);

}  // namespace meshwright::planner

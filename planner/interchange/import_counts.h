// Counts the devices, the batch and the chunks of a layout from what the files of a framework say
// of them: each from the others.
#pragma once

#include "planner/interchange/import_state.h"

namespace meshwright::planner {

// Finds the devices and dp, each from the other or from the batch, then the batch and the ranks
// that divide states.
void CountDevices(ImportState& state);

// Finds the chunks of a pipeline rank, its schedule and how experts are divided.
void CountChunks(ImportState& state);

}  // namespace meshwright::planner

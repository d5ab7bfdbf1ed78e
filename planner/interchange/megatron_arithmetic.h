// Converts settings to Megatron-Core's way of counting, and back: its notation of stages, its
// layers, and what its offload needs. Megatron-LM and Megatron-Bridge share these functions.
#pragma once

#include "absl/status/status.h"
#include "planner/interchange/export_job.h"
#include "planner/interchange/name_table.h"
#include "planner/interchange/settings.h"

namespace meshwright::planner {

// Changes the settings to Megatron-Core's way of counting. Returns InvalidArgument for a schedule
// or an offload that it lacks.
absl::Status PrepareMegatron(const ExportJob& job, Settings& settings);

// Returns whether the layout names a release of flash-attn other than 2. Megatron-Core can't choose
// the release: Transformer Engine takes the newest that is installed.
bool NamesFlashRelease(const Layout& layout);

// Returns InvalidArgument about attn if NamesFlashRelease().
absl::Status CheckFlashRelease(const Layout& layout);

// After an import, sets stages= and vpp= from --pipeline-model-parallel-layout, and calls
// ResolveHybrid(). Returns InvalidArgument, whose field is the setting, if the stages do not
// consist of whole layers, have more runs than a StageSplit holds, or are not a multiple of pp.
absl::Status ResolveMegatron(Settings& settings);

// Return the tables of the flags that are written before those of the model, and after them.
NameTable MegatronLayoutFlags();
NameTable MegatronFurtherFlags();

}  // namespace meshwright::planner

// Counts as Megatron-Core counts: its notation of stages, its layers, and what its offload needs.
// Megatron-LM and Megatron-Bridge share it.
#pragma once

#include "absl/status/status.h"
#include "planner/interchange/export_job.h"
#include "planner/interchange/name_table.h"
#include "planner/interchange/settings.h"

namespace meshwright::planner {

// Changes the settings to what Megatron-Core counts. Returns InvalidArgument for a schedule or an
// offload that it lacks.
absl::Status PrepareMegatron(const ExportJob& job, Settings& settings);

// Returns whether the layout names a release of flash-attn other than 2. Megatron-Core can't choose
// it: Transformer Engine takes the newest that is installed.
bool NamesFlashRelease(const Layout& layout);

// Returns InvalidArgument about attn if NamesFlashRelease().
absl::Status CheckFlashRelease(const Layout& layout);

// Turns --pipeline-model-parallel-layout into stages=. Returns InvalidArgument, whose field is the
// setting, if a part of it is not a stage of whole layers.
absl::Status ResolveMegatron(Settings& settings);

// The flags before those of the model, and those after.
NameTable MegatronLayoutFlags();
NameTable MegatronFurtherFlags();

}  // namespace meshwright::planner

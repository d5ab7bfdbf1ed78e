// Reads a sweep's related sweeps from the store: earlier sweeps whose results inform its choices.
#pragma once

#include "absl/status/statusor.h"
#include "db/sweep_store.h"
#include "planner/policy/related_sweeps.h"

namespace meshwright::server {

// Returns the sweeps whose results inform the choices of `sweep`, the most similar first. They are
// found among the latest sweeps that were created before it. A related sweep must have ended when
// `sweep` was created, and must share its planner version, worker version and kind of device.
//
// Returns none for a sweep that chooses no trials or was requested without earlier measurements
// (`fresh`). The answer changes only if an earlier sweep is deleted.
absl::StatusOr<planner::RelatedSweeps> FindRelatedSweeps(const db::SweepRecord& sweep,
                                                         db::SweepReader& store);

}  // namespace meshwright::server

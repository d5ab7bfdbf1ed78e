// Reads a sweep's related sweeps from the store: earlier sweeps whose results inform its choices.
#pragma once

#include "absl/status/statusor.h"
#include "db/sweep_store.h"
#include "planner/policy/related_sweeps.h"

namespace meshwright::server {

// Returns the latest of those earlier sweeps that had ended when `sweep` was created and that share
// its planner version, worker version and kind of device. None for a sweep that chooses no trials
// or was requested without earlier measurements (`fresh`). The answer is the same whenever it is
// read, unless a related sweep is deleted.
absl::StatusOr<planner::RelatedSweeps> FindRelatedSweeps(const db::SweepRecord& sweep,
                                                         db::SweepReader& store);

}  // namespace meshwright::server

// FindRelatedSweeps() reads a sweep's related sweeps from the store. These are earlier sweeps whose
// results inform the choice of trials.
#pragma once

#include "absl/status/statusor.h"
#include "db/sweep_store.h"
#include "planner/policy/related_sweeps.h"

namespace meshwright::server {

// Returns the related sweeps of `sweep`, the most similar first, from among the latest sweeps that
// were created before `sweep`. A related sweep must have ended when `sweep` was created, and must
// have the same planner version, worker version and kind of device.
//
// Returns none for a sweep that chooses no trials or was requested without earlier measurements
// (`fresh`). The answer changes only if an earlier sweep is deleted.
absl::StatusOr<planner::RelatedSweeps> FindRelatedSweeps(const db::SweepRecord& sweep,
                                                         db::SweepReader& store);

}  // namespace meshwright::server

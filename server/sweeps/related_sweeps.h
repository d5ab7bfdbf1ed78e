// What the store knows of a sweep's relatives: earlier sweeps whose results say something of it.
#pragma once

#include "absl/status/statusor.h"
#include "db/sweep_store.h"
#include "planner/policy/related_sweeps.h"

namespace meshwright::server {

// Of the sweeps that were made last before this one those that had ended by then, of the same
// planner and worker version and kind of device. None for a sweep that chooses no trials or was
// asked for without what was measured before (`fresh`). Unless a relative is deleted the answer is
// the same whenever it is read.
absl::StatusOr<planner::RelatedSweeps> FindRelatedSweeps(const db::SweepRecord& sweep,
                                                         db::SweepReader& store);

}  // namespace meshwright::server

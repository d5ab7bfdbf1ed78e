// Computes, from the stored state of a sweep, which trials it would run next and the beliefs about
// its layouts.
#pragma once

#include <cstdint>
#include <vector>

#include "db/records.h"
#include "meshwright/v1/sweeps.pb.h"
#include "planner/policy/related_sweeps.h"

namespace meshwright::server {

// `heads`: all of the sweep's candidates by number. `most`: the number of idle agents, at least 1.
// A sweep that has ended runs nothing more.
v1::SweepPlan SweepPlanOf(const db::SweepRecord& sweep, const std::vector<db::TrialSummary>& heads,
                          planner::RelatedSweeps relatives, int32_t most);

}  // namespace meshwright::server

// What a sweep would run next, and what is believed of its layouts, from what is stored of it.
#pragma once

#include <cstdint>
#include <vector>

#include "db/records.h"
#include "meshwright/v1/sweeps.pb.h"
#include "planner/policy/related_sweeps.h"

namespace meshwright::server {

// `heads`: all of the sweep's candidates by number. `most`: agents that are idle, at least 1. One
// that has ended runs nothing more.
v1::SweepPlan SweepPlanOf(const db::SweepRecord& sweep, const std::vector<db::TrialSummary>& heads,
                          planner::RelatedSweeps relatives, int32_t most);

}  // namespace meshwright::server

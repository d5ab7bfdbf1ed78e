// Results that need not be measured again.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "db/sweep_store.h"
#include "server/sweeps/sweep_builder.h"

namespace meshwright::server {

// Candidates whose layouts were measured before, by workers of this version and under the same
// model, cluster, training, memory limit and seed, become trials that have that result. `adaptive`:
// whether the sweep's trials may do with fewer steps than asked for.
absl::Status ReuseResults(db::SweepReader& store, const std::string& worker_version, bool adaptive,
                          NewSweep& made);

}  // namespace meshwright::server

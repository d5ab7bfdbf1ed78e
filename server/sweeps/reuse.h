// Reuse of earlier results.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "db/sweep_store.h"
#include "server/sweeps/sweep_builder.h"

namespace meshwright::server {

// Makes candidates whose layouts were measured before trials with that result. The earlier workers
// must be of this version, and model, cluster, training, memory limit and seed the same.
// `adaptive`: whether the sweep's trials may run fewer steps than requested.
absl::Status ReuseResults(db::SweepReader& store, const std::string& worker_version, bool adaptive,
                          NewSweep& made);

}  // namespace meshwright::server

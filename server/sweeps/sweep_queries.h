// SweepQueries answers every read of sweeps and trials, both over gRPC and for a command that has
// the database file.
//
// Callers may rely on: no read waits for what an engine decides or writes; an answer is no longer
// than a client accepts (server/calls/paging.h).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "db/sweep_store.h"
#include "meshwright/v1/sweeps.pb.h"

namespace meshwright::server {

class SweepQueries {
 public:
  // `store` outlives it.
  explicit SweepQueries(db::SweepReader* store) : store_(store) {}

  // Finds a sweep by resource name; NotFound lists the nearest names.
  absl::StatusOr<db::SweepRecord> Find(const std::string& name) const;

  absl::StatusOr<v1::Sweep> GetSweep(const v1::GetSweepRequest& request) const;
  absl::StatusOr<v1::ListSweepsResponse> ListSweeps(const v1::ListSweepsRequest& request) const;
  absl::StatusOr<v1::ListTrialsResponse> ListTrials(const v1::ListTrialsRequest& request) const;
  absl::StatusOr<v1::SweepPlan> GetSweepPlan(const v1::GetSweepPlanRequest& request) const;
  absl::StatusOr<v1::Trial> GetTrial(const v1::GetTrialRequest& request) const;

 private:
  // All trials of one sweep, with a result or without.
  absl::StatusOr<v1::ListTrialsResponse> ListAll(const v1::ListTrialsRequest& request) const;
  absl::StatusOr<v1::ListTrialsResponse> ListMeasured(const v1::ListTrialsRequest& request) const;

  db::SweepReader* store_;
};

}  // namespace meshwright::server

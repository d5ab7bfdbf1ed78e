// SweepQueries answers all reads of sweeps and trials. Calls over gRPC use it, and so do commands
// that open the database file themselves.
//
// Callers may rely on: no read waits for a decision or a write of the engine. No answer is longer
// than a client accepts (server/calls/paging.h).
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "db/sweep_store.h"
#include "meshwright/v1/sweeps.pb.h"

namespace meshwright::server {

class SweepQueries {
 public:
  // `store` must outlive this object.
  explicit SweepQueries(db::SweepReader* store) : store_(store) {}

  // Returns the sweep of this resource name, or NotFound, which lists the nearest names.
  absl::StatusOr<db::SweepRecord> Find(const std::string& name) const;

  absl::StatusOr<v1::Sweep> GetSweep(const v1::GetSweepRequest& request) const;
  absl::StatusOr<v1::ListSweepsResponse> ListSweeps(const v1::ListSweepsRequest& request) const;
  absl::StatusOr<v1::ListTrialsResponse> ListTrials(const v1::ListTrialsRequest& request) const;
  absl::StatusOr<v1::SweepPlan> GetSweepPlan(const v1::GetSweepPlanRequest& request) const;
  absl::StatusOr<v1::Trial> GetTrial(const v1::GetTrialRequest& request) const;

 private:
  // Lists all trials of one sweep, with or without a result.
  absl::StatusOr<v1::ListTrialsResponse> ListAll(const v1::ListTrialsRequest& request) const;
  // Lists trials with a result, of one sweep or of all, that match a filter.
  absl::StatusOr<v1::ListTrialsResponse> ListMeasured(const v1::ListTrialsRequest& request) const;

  db::SweepReader* store_;
};

}  // namespace meshwright::server

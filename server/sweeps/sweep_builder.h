// Builds a sweep and its candidates from a request: searches, takes the best layouts and those that
// the request names, and records the versions and inputs that produced them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "db/records.h"
#include "db/sweep_store.h"
#include "planner/search/search.h"

namespace meshwright::server {

struct SweepOptions {
  std::string sweep_id;      // empty: the store picks a name
  std::string request_id;    // empty: none
  std::string request_json;  // the request, as the store keeps it
  int32_t trials = 0;        // most trials to choose, beside named layouts
  int32_t candidates =
      0;  // best layouts of the search to choose among; 0: kUsualCandidates, or more
  // Expected gain, as a share of the best step, below which no trial is chosen.
  double min_gain = 0.01;
  std::vector<std::string> layouts;  // named ones, in their text form
  int32_t steps = 5;
  bool adaptive = false;  // whether trials may run fewer steps
  uint64_t seed = 0;
  std::optional<int64_t> memory_limit_bytes;  // per rank
};

// Enough to include layouts of other families than the predicted best one.
inline constexpr int32_t kUsualCandidates = 128;

struct NewSweep {
  db::SweepRecord sweep;
  std::vector<db::TrialRecord> candidates;
};

// Candidates are numbered by predicted MFU. A layout that is both named and found is one candidate,
// and a trial at once. Where every candidate is to run, whatever its gain, all are trials.
// InvalidArgument for a number out of range, a request that no layout can serve, or a named layout
// that can't run, with the rule that it breaks; FailedPrecondition, with the nearest layout and the
// bytes by which it exceeds the memory, when nothing fits and no layout is named.
absl::StatusOr<NewSweep> BuildSweep(planner::SearchRequest request, const SweepOptions& options,
                                    const std::string& planner_version, absl::Time now);

// Returns a sweep of all the same trials, numbered anew and without their results. Only the ids of
// `options` count.
NewSweep RepeatSweep(const db::SweepRecord& source, const std::vector<db::TrialRecord>& trials,
                     const SweepOptions& options, absl::Time now);

// Makes candidates whose layouts were measured before trials with that result. The earlier workers
// must be of this version, and model, cluster, training, memory limit and seed the same.
// `adaptive`: whether the sweep's trials may run fewer steps than requested.
absl::Status ReuseResults(db::SweepReader& store, const std::string& worker_version, bool adaptive,
                          NewSweep& made);

}  // namespace meshwright::server

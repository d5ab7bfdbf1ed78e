// BuildSweep() builds a sweep and its candidates from a request. It searches, takes the best
// layouts and those that the request names, and records the versions and inputs that produced them.
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
#include "executor/trial/runner_choice.h"
#include "planner/search/search.h"

namespace meshwright::server {

// What runs a sweep's trials in place of Meshwright's own worker.
struct SweepRunner {
  // The runner on the agents; nullopt: callers ask for the trials and run them.
  std::optional<trial::RunnerChoice> choice = {};
  planner::FrameworkProfile profile;  // its rules decide which layouts are valid
  std::string where = {};             // condition on the layouts; empty: any layout
};

struct SweepOptions {
  std::string sweep_id;      // if empty, the store picks a name
  std::string request_id;    // may be empty
  std::string request_json;  // the request, as the store keeps it
  int32_t trials = 0;        // most trials to choose, in addition to named layouts
  // Number of the search's best layouts to choose among. 0 stands for the larger one of
  // kUsualCandidates and `trials`.
  int32_t candidates = 0;
  // Expected gain, as a share of the best step time, below which no trial is chosen.
  double min_gain = 0.01;
  std::vector<std::string> layouts;  // layouts that the request names, in their text form
  int32_t steps = 5;
  bool adaptive = false;  // whether trials may run fewer steps
  uint64_t seed = 0;
  std::optional<int64_t> memory_limit_bytes;  // per rank
  std::optional<SweepRunner> runner;          // nullopt: Meshwright's own worker runs the trials
};

// This number is large enough that the candidates include layouts of other kinds than the predicted
// best one.
inline constexpr int32_t kUsualCandidates = 128;

struct NewSweep {
  db::SweepRecord sweep;
  std::vector<db::TrialRecord> candidates;
};

// Returns a sweep whose candidates are numbered by predicted MFU. A layout that the request names
// is a trial from the start; if the search finds it too, it is still one candidate. If all
// candidates run regardless of their expected gain, all of them are trials from the start.
//
// Returns InvalidArgument for a number out of range, for a request that no layout can serve, and
// for a named layout that can't run, with the rule that it breaks. If nothing fits and no layout is
// named, returns FailedPrecondition with the nearest layout and by how much it exceeds the memory.
absl::StatusOr<NewSweep> BuildSweep(planner::SearchRequest request, const SweepOptions& options,
                                    const std::string& planner_version, absl::Time now);

// Returns a sweep of the same trials, numbered anew and without their results. Of `options`, only
// the ids and `request_json` are used.
NewSweep RepeatSweep(const db::SweepRecord& source, const std::vector<db::TrialRecord>& trials,
                     const SweepOptions& options, absl::Time now);

// Turns each candidate whose layout was measured before into a trial with that result. The earlier
// trial must have run under `worker_version`, with the same model, cluster, training, number of
// devices, memory limit and seed. `adaptive` says whether the sweep's trials may run fewer steps
// than requested.
absl::Status ReuseResults(db::SweepReader& store, const std::string& worker_version, bool adaptive,
                          NewSweep& made);

}  // namespace meshwright::server

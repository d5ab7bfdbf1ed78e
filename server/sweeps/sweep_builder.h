// From a request to a sweep and its candidates: searches, takes the best layouts and those that the
// request names, records what produced them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "db/records.h"
#include "planner/search/search.h"

namespace meshwright::server {

struct SweepOptions {
  std::string sweep_id;      // empty: the store picks a name
  std::string request_id;    // empty: none
  std::string request_json;  // what was asked for, as the store keeps it
  int32_t trials = 0;        // that are chosen at most, beside layouts that are named
  int32_t candidates =
      0;  // best layouts of the search, to choose among; 0: kUsualCandidates, or more
  double min_gain = 0.01;  // expected share of the best step below which no trial is chosen
  std::vector<std::string> layouts;  // named ones, in their text form
  int32_t steps = 5;
  bool adaptive = false;  // whether fewer steps will do
  uint64_t seed = 0;
  std::optional<int64_t> memory_limit_bytes;  // per rank
};

// Enough that layouts of other families than the predicted best are among them.
inline constexpr int32_t kUsualCandidates = 128;

struct NewSweep {
  db::SweepRecord sweep;
  std::vector<db::TrialRecord> candidates;
};

// Candidates are numbered by predicted MFU; a layout that is named and found as well is one of
// them, and a trial at once. Where every candidate is to run, whatever it gains, all are.
// InvalidArgument for a number that is out of range, a request that no layout can serve or a named
// layout that can't run, with the rule that it breaks; FailedPrecondition, with the nearest layout
// and the bytes it is over, when nothing fits and no layout is named.
absl::StatusOr<NewSweep> BuildSweep(planner::SearchRequest request, const SweepOptions& options,
                                    const std::string& planner_version, absl::Time now);

// The same trials once more, as if nobody had run them, and all of them, numbered anew. Of
// `options` only the ids count.
NewSweep RepeatSweep(const db::SweepRecord& source, const std::vector<db::TrialRecord>& trials,
                     const SweepOptions& options, absl::Time now);

}  // namespace meshwright::server

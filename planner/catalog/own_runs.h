// Reads training runs that a user did, and derives from them the Correction of the estimates of a
// request.
//
// A run is given as a text of words, separated by blanks: the layout, and what was measured.
//
//   tp2.pp1.dp4.mb1.zero1 step=12.3s memory=61GiB
//   tp1.pp1.dp8.zero3 oom
//   tp2.pp1.dp8.mb1 step=950ms global_batch=64 seq_len=4096 loss=chunked:8
//
// `step` has the unit ms, s or min. `memory` is the peak of the fullest device as the framework
// reports it, in GiB, MiB or GB. A run gives either `oom`, or at least one of `step` and `memory`.
// The run's batch, sequence length and number of devices (that of its layout) may differ from the
// request's. So may its options, except for options that select another profile of the framework.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "planner/correction/own_run.h"
#include "planner/search/search_request.h"

namespace meshwright::planner {

// The largest number of runs for one request.
inline constexpr int64_t kMostOwnRuns = 256;

// Parses the text of one run. Returns InvalidArgument about `measured` if the text can't be read.
absl::StatusOr<OwnRun> ParseOwnRun(std::string_view text, const SearchRequest& request);

// Returns the text of a run, which ParseOwnRun() can read. The text contains only those values of
// the run's training that differ from `training`.
std::string OwnRunText(const OwnRun& run, const TrainingSpec& training);

// Sets the request's `own_runs`, with their uncorrected estimates, and `correction`. Without texts
// `correction` is not set. Returns InvalidArgument about `measured` if a text can't be read, or if
// its layout can't run.
absl::Status AddOwnRuns(const std::vector<std::string>& texts, SearchRequest& request);

}  // namespace meshwright::planner

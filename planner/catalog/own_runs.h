// Reads the runs that a user did, and derives from them the Correction of a question's estimates.
//
// One run is a text of words with blanks between them: the layout, and what was measured.
//
//   tp2.pp1.dp4.mb1.zero1 step=12.3s memory=61GiB
//   tp1.pp1.dp8.zero3 oom
//   tp2.pp1.dp8.mb1 step=950ms global_batch=64 seq_len=4096 loss=chunked:8
//
// `step` has the unit ms, s or min. `memory` is the peak of the fullest device as the framework
// reports it, in GiB or GB. At least one of step, memory and oom must be there. The run may have
// another batch, sequence length or options than the question, and another number of devices, which
// is the layout's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "planner/correction/own_run.h"
#include "planner/search/search_request.h"

namespace meshwright::planner {

// The most runs of one question.
inline constexpr int64_t kMostOwnRuns = 256;

// Parses the text of one run. Returns InvalidArgument about `measured` for a text that can't be
// read.
absl::StatusOr<OwnRun> ParseOwnRun(std::string_view text, const SearchRequest& request);

// Returns the text of a run; ParseOwnRun() reads it. Only what differs from `training` is said of
// the run's training.
std::string OwnRunText(const OwnRun& run, const TrainingSpec& training);

// Sets the request's `own_runs`, with their estimates by the formulas alone, and `correction`.
// Without texts there is no correction. Returns
// InvalidArgument about `measured` if a text can't be read, or if its layout can't run.
absl::Status AddOwnRuns(const std::vector<std::string>& texts, SearchRequest& request);

}  // namespace meshwright::planner

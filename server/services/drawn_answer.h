// DrawAnswer() answers the question of a DrawRequest and draws the answer.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "meshwright/v1/planner.pb.h"
#include "planner/search/search.h"

namespace meshwright::server {

// Returns a file of SVG, dated `now`, whose metadata have the call that drew it. Returns
// InvalidArgument if there is no question, and every error of the question.
absl::StatusOr<std::string> DrawAnswer(const v1::DrawRequest& request, int32_t host_cores,
                                       const planner::SearchRun& run, absl::Time now);

}  // namespace meshwright::server

// Reads the rows of a measurement file that can be own runs of a request
// (planner/catalog/own_runs.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/search/search_request.h"

namespace meshwright::planner {

// Returns the rows that can be own runs of the request, in the order of the file, as texts for
// ParseOwnRun(). (1) The model, device, sequence length and global batch of such a row are the
// request's. An empty cell, or the name of a model or a device that no preset has, does not exclude
// a row. (2) The run ran out of memory, or it succeeded and the row gives its step time, speed or
// peak. Returns InvalidArgument about `measured` if the file can't be read or has no such row. If
// it has none, the message says why the first row is not one.
absl::StatusOr<std::vector<std::string>> OwnRunsOfFile(std::string_view csv,
                                                       const SearchRequest& request,
                                                       const MeasurementPresets& presets);

}  // namespace meshwright::planner

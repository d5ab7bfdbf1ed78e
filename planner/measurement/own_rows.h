// Reads the rows of a measurement file that are runs of a question (planner/catalog/own_runs.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/search/search_request.h"

namespace meshwright::planner {

// Returns the texts of the rows whose model, device, sequence length and global batch are the
// request's and that ran or went out of memory, in the order of the file. A cell that is empty, or
// a model or device that no preset has, contradicts nothing. Returns InvalidArgument about
// `measured` if the file can't be read, or if none of its rows is a run of the question; the
// message then says what the first row has in place of what is asked for.
absl::StatusOr<std::vector<std::string>> OwnRunsOfFile(std::string_view csv,
                                                       const SearchRequest& request,
                                                       const MeasurementPresets& presets);

}  // namespace meshwright::planner

// HistoryCsv() writes what `meshwright history` lists as comma-separated values (RFC 4180), for
// spreadsheets. `sweep export` writes the columns that validate and calibrate read.
#pragma once

#include <string>
#include <vector>

#include "meshwright/v1/sweeps.pb.h"

namespace meshwright::cli {

// The framework of a sweep's own trials.
inline constexpr char kOwnFramework[] = "meshwright";

// Returns a header and one line for each trial. The layout has a column for its text and one for
// each of its keys. An unknown figure is an empty cell.
std::string HistoryCsv(const std::vector<v1::Trial>& trials);

}  // namespace meshwright::cli

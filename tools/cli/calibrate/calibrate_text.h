// PrintCalibration() prints a calibration as text, and CalibrationToJson() converts it to JSON.
#pragma once

#include <ostream>

#include "nlohmann/json.hpp"
#include "planner/calibration/calibrate.h"

namespace meshwright::cli {

// Prints the rows that were used and those that were not, every constant with what determined it,
// and the remaining errors.
void PrintCalibration(const planner::CalibrationRequest& request,
                      const planner::CalibrationResult& result, std::ostream& out);

nlohmann::ordered_json CalibrationToJson(const planner::CalibrationRequest& request,
                                         const planner::CalibrationResult& result);

}  // namespace meshwright::cli

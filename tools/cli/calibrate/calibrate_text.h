// A calibration as text and as JSON.
#pragma once

#include <ostream>

#include "nlohmann/json.hpp"
#include "planner/calibration/calibrate.h"

namespace meshwright::cli {

// The rows that took part and those that didn't, every constant with what decided it, and the
// errors that remain.
void PrintCalibration(const planner::CalibrationRequest& request,
                      const planner::CalibrationResult& result, std::ostream& out);

nlohmann::ordered_json CalibrationToJson(const planner::CalibrationRequest& request,
                                         const planner::CalibrationResult& result);

}  // namespace meshwright::cli

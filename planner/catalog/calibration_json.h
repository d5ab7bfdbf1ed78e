// The JSON form of a calibration, inside cluster and framework files.
#pragma once

#include "nlohmann/json.hpp"
#include "planner/codec/json_fields.h"
#include "planner/spec/calibration.h"

namespace meshwright::planner {

// An object without a "calibration" was not fitted. Problems go to `fields`.
Calibration ReadCalibration(JsonFields& fields);

nlohmann::ordered_json CalibrationToJson(const Calibration& calibration);

}  // namespace meshwright::planner

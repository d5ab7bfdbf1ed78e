#include "planner/catalog/calibration_json.h"

#include "planner/catalog/calibration_fields.h"
#include "planner/codec/json_codec.h"

namespace meshwright::planner {

Calibration ReadCalibration(JsonFields& fields) {
  Calibration calibration;
  if (!fields.Has("calibration")) return calibration;
  fields.Fail(ReadJson("calibration", fields.Object("calibration"), UnknownKeys::kPassOver,
                       calibration, "calibration."));
  return calibration;
}

nlohmann::ordered_json CalibrationToJson(const Calibration& calibration) {
  return WriteOrderedJson(calibration);
}

}  // namespace meshwright::planner

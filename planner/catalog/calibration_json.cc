#include "planner/catalog/calibration_json.h"

#include <utility>

#include "planner/codec/json_text.h"
#include "planner/base/field_error.h"

namespace meshwright::planner {

using nlohmann::json;
using nlohmann::ordered_json;

Calibration ReadCalibration(JsonFields& fields) {
  Calibration calibration;
  if (!fields.Has("calibration")) return calibration;
  const json& object = fields.Object("calibration");
  JsonFields inside(object, "calibration.");
  calibration.command = inside.StringOr("command", "");
  calibration.rows = inside.IntOr("rows", 0);
  calibration.prior_rows = inside.IntOr("prior_rows", 0);
  calibration.sources = inside.StringsOr("sources");
  calibration.median_error = inside.NumberOr("median_error", 0.0);
  calibration.mean_error = inside.NumberOr("mean_error", 0.0);
  if (inside.Has("constants")) {
    for (const auto& [name, values] : inside.Object("constants").items()) {
      if (!values.is_object()) {
        inside.Fail(FieldError("calibration.constants." + name, ShowJson(values),
                               "must be an object with prior, prior_sigma, value and sigma"));
        break;
      }
      JsonFields constant(values, "calibration.constants." + name + ".");
      calibration.constants.push_back({.name = name,
                                       .prior = constant.Number("prior"),
                                       .prior_sigma = constant.Number("prior_sigma"),
                                       .value = constant.Number("value"),
                                       .sigma = constant.Number("sigma"),
                                       .at_bound = constant.BoolOr("at_bound", false)});
      inside.Fail(constant.status());
    }
  }
  fields.Fail(inside.status());
  return calibration;
}

ordered_json CalibrationToJson(const Calibration& calibration) {
  ordered_json constants = ordered_json::object();
  for (const CalibratedConstant& constant : calibration.constants) {
    constants[constant.name] = {{"prior", constant.prior},
                                {"prior_sigma", constant.prior_sigma},
                                {"value", constant.value},
                                {"sigma", constant.sigma}};
    if (constant.at_bound) constants[constant.name]["at_bound"] = true;
  }
  ordered_json object = {{"command", calibration.command},
                         {"rows", calibration.rows},
                         {"sources", calibration.sources}};
  if (calibration.prior_rows > 0) object["prior_rows"] = calibration.prior_rows;
  object["median_error"] = calibration.median_error;
  object["mean_error"] = calibration.mean_error;
  object["constants"] = std::move(constants);
  return object;
}

}  // namespace meshwright::planner

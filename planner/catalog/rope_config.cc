#include "planner/catalog/rope_config.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::planner {
namespace {

constexpr double kDefaultTheta = 10000.0;

struct RopeObject {
  std::optional<double> theta;
  RopeScaling scaling;
};

absl::StatusOr<RopeScalingKind> ReadKind(JsonFields& fields, const std::string& prefix) {
  // `type` is the older spelling.
  const std::string_view key =
      fields.Has("type") && !fields.Has("rope_type") ? "type" : "rope_type";
  const std::string name = fields.StringOr(key, "default");
  auto kind = ParseRopeScalingKind(absl::StrCat(prefix, std::string(key)), name);
  if (kind.ok()) return kind;
  return FieldError(FieldOf(kind.status()), name,
                    "this scaling of rotary embeddings is not planned yet; must be default, linear "
                    "or llama3. It changes neither memory nor step time: without it the estimate "
                    "is that of this model");
}

absl::StatusOr<RopeObject> ReadObject(const std::string& name, const nlohmann::json& json,
                                      std::vector<std::string>& unknown_keys) {
  const std::string prefix = name + ".";
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      return FieldError(prefix + key, "(object)",
                        "rotary embeddings that differ between layers are not planned yet; must be "
                        "absent");
    }
  }
  JsonFields fields(json, prefix);
  RopeObject rope;
  rope.theta = fields.OptionalNumber("rope_theta");
  ASSIGN_OR_RETURN(rope.scaling.kind, ReadKind(fields, prefix));
  if (rope.scaling.kind != RopeScalingKind::kNone) rope.scaling.factor = fields.Number("factor");
  if (rope.scaling.kind == RopeScalingKind::kLlama3) {
    rope.scaling.low_freq_factor = fields.Number("low_freq_factor");
    rope.scaling.high_freq_factor = fields.Number("high_freq_factor");
    rope.scaling.original_max_positions = fields.Int("original_max_position_embeddings");
  }
  const double rotary_share = fields.NumberOr("partial_rotary_factor", 1.0);
  RETURN_IF_ERROR(fields.status());
  if (rotary_share != 1.0) {
    return FieldError(prefix + "partial_rotary_factor", absl::StrCat(rotary_share),
                      "rotary embedding of a part of each head: not planned yet; must be 1");
  }
  for (const std::string& key : fields.UnaskedKeys()) unknown_keys.push_back(prefix + key);
  return rope;
}

}  // namespace

absl::StatusOr<RopeConfig> ReadRopeConfig(JsonFields& config,
                                          std::vector<std::string>& unknown_keys) {
  const std::optional<double> theta = config.OptionalNumber("rope_theta");
  std::optional<RopeObject> object;
  std::string read_from;
  for (const std::string name : {"rope_scaling", "rope_parameters"}) {
    if (!config.Has(name)) continue;
    const nlohmann::json& json = config.Object(name);
    RETURN_IF_ERROR(config.status());
    ASSIGN_OR_RETURN(const RopeObject read, ReadObject(name, json, unknown_keys));
    if (object && object->scaling != read.scaling) {
      return FieldError(name, "(object)", "must say the same as " + read_from);
    }
    if (object && !object->theta) object->theta = read.theta;
    if (!object) object = read;
    read_from = name;
  }
  RETURN_IF_ERROR(config.status());
  const std::optional<double> inner_theta = object ? object->theta : std::nullopt;
  if (theta && inner_theta && *theta != *inner_theta) {
    return FieldError("rope_theta", absl::StrCat(*theta),
                      absl::StrCat("must be the ", *inner_theta, " of ", read_from));
  }
  RopeConfig rope;
  rope.theta = theta.value_or(inner_theta.value_or(kDefaultTheta));
  if (object) rope.scaling = object->scaling;
  return rope;
}

}  // namespace meshwright::planner

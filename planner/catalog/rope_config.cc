#include "planner/catalog/rope_config.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/catalog/config_keys.h"
#include "planner/catalog/key_rule.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

// Of images and video: text tokens are turned as by default.
constexpr const char* kSections[] = {"mrope_section", "mrope_interleaved"};

// The rope_type, and the member "of" of the rows of its keys (planner/data/config_keys.json).
constexpr std::string_view kYarn = "yarn";

// If a file gives an embedding for each kind of layer, the embedding of the first of these kinds
// counts.
constexpr const char* kLayerKinds[] = {"full_attention", "sliding_attention", "chunked_attention",
                                       "main"};

// Returns the key of the object for each kind of layer that counts; "" if there is one for all.
std::string KindThatCounts(const json& object) {
  for (const char* kind : kLayerKinds) {
    const auto at = object.find(kind);
    if (at != object.end() && at->is_object()) return kind;
  }
  return "";
}

absl::Status CheckNoObjects(const std::string& prefix, const json& object) {
  for (const auto& [key, value] : object.items()) {
    if (!value.is_object()) continue;
    return FieldError(prefix + key, "(object)",
                      "rotary embeddings of such layers are not planned yet; must be absent");
  }
  return absl::OkStatus();
}

// An export has flags for YaRN (arXiv 2309.00071).
void AddYarnKeys(const std::string& prefix, const json& object, RopeConfig& rope) {
  for (const auto& [key, value] : object.items()) {
    const KeyRow* row = FindConfigKey(key);
    if (row == nullptr || (row->of != kYarn && key != "factor") || value.is_structured()) continue;
    if (IsOff(value) && !value.is_boolean()) continue;
    rope.set_aside.push_back({prefix + key, ShownValue(value)});
  }
}

// Reads the scaling of the kinds that are planned; any other is set aside with all its keys.
absl::Status ReadScaling(JsonFields& fields, const std::string& prefix, const json& object,
                         RopeConfig& rope) {
  // `type` is the older spelling.
  const std::string key = fields.Has("type") && !fields.Has("rope_type") ? "type" : "rope_type";
  const std::string name = fields.StringOr(key, "default");
  fields.Has("type");
  RETURN_IF_ERROR(fields.status());
  const bool turns_text = name != "mrope";
  const auto kind = ParseRopeScalingKind(prefix + key, turns_text ? name : "default");
  if (!kind.ok() || !turns_text) rope.set_aside.push_back({prefix + key, ShortenedName(name)});
  if (name == kYarn) AddYarnKeys(prefix, object, rope);
  if (!kind.ok()) return absl::OkStatus();
  rope.scaling.kind = *kind;
  if (*kind != RopeScalingKind::kNone) rope.scaling.factor = fields.Number("factor");
  if (*kind == RopeScalingKind::kLlama3) {
    rope.scaling.low_freq_factor = fields.Number("low_freq_factor");
    rope.scaling.high_freq_factor = fields.Number("high_freq_factor");
    rope.scaling.original_max_positions = fields.Int("original_max_position_embeddings");
  }
  return fields.status();
}

struct RopeObject {
  RopeConfig rope;
  std::optional<double> theta;
};

absl::StatusOr<RopeObject> ReadRopeObject(std::string name, const json& object) {
  const std::string kind = KindThatCounts(object);
  RopeObject read;
  const json* counts = &object;
  if (!kind.empty()) {
    counts = &object.at(kind);
    for (const auto& [other, value] : object.items()) {
      if (value.is_object() && value != *counts) {
        read.rope.set_aside.push_back({absl::StrCat(name, ".", other), "(object)"});
      }
    }
    absl::StrAppend(&name, ".", kind);
  }
  const std::string prefix = name + ".";
  RETURN_IF_ERROR(CheckNoObjects(prefix, *counts));
  JsonFields fields(*counts, prefix);
  read.theta = fields.OptionalNumber("rope_theta");
  read.rope.rotary_share = fields.OptionalNumber("partial_rotary_factor");
  for (const char* key : kSections) fields.Has(key);
  const size_t set_aside = read.rope.set_aside.size();
  RETURN_IF_ERROR(ReadScaling(fields, prefix, *counts, read.rope));
  if (read.rope.set_aside.size() > set_aside) return read;
  for (const std::string& key : fields.UnaskedKeys())
    read.rope.unknown_keys.push_back(prefix + key);
  return read;
}

}  // namespace

absl::StatusOr<RopeConfig> ReadRopeConfig(JsonFields& config) {
  const std::optional<double> theta = config.OptionalNumber("rope_theta");
  std::optional<RopeObject> object;
  std::string read_from;
  for (const std::string name : {"rope_scaling", "rope_parameters"}) {
    if (!config.Has(name)) continue;
    const json& written = config.Object(name);
    RETURN_IF_ERROR(config.status());
    ASSIGN_OR_RETURN(RopeObject read, ReadRopeObject(name, written));
    if (object && object->rope.scaling != read.rope.scaling) {
      return FieldError(name, "(object)", "must say the same as " + read_from);
    }
    if (!object) {
      object = std::move(read);
    } else {
      if (!object->theta) object->theta = read.theta;
      if (!object->rope.rotary_share) object->rope.rotary_share = read.rope.rotary_share;
    }
    read_from = name;
  }
  RETURN_IF_ERROR(config.status());
  RopeConfig rope = object ? std::move(object->rope) : RopeConfig();
  const std::optional<double> inner_theta = object ? object->theta : std::nullopt;
  if (theta && inner_theta && *theta != *inner_theta) {
    return FieldError("rope_theta", absl::StrCat(*theta),
                      absl::StrCat("must be the ", *inner_theta, " of ", read_from));
  }
  rope.theta = theta.value_or(inner_theta.value_or(rope.theta));
  return rope;
}

}  // namespace meshwright::planner

// Reads the keys of a config.json about its rotary embedding, in the form of older files
// (rope_theta, rope_scaling) and of newer ones (rope_parameters).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/rope_scaling.h"

namespace meshwright::planner {

struct RopeConfig {
  double theta = 10000.0;
  std::optional<double> rotary_share;  // if the object has it
  RopeScaling scaling;
  // Scalings that the planner does not know, and embeddings that only some kinds of layers have.
  std::vector<SetAsideKey> set_aside;
  std::vector<std::string> unknown_keys;  // within the objects
};

// Reads the keys. Returns InvalidArgument, which names the key, if keys contradict each other.
absl::StatusOr<RopeConfig> ReadRopeConfig(JsonFields& config);

}  // namespace meshwright::planner

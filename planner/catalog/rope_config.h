// Reads the keys of a config.json about its rotary embedding: rope_theta and rope_scaling, or both
// within rope_parameters, as in newer files.
#pragma once

#include "absl/status/statusor.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/rope_scaling.h"

namespace meshwright::planner {

struct RopeConfig {
  double theta = 10000.0;
  RopeScaling scaling;
};

// InvalidArgument naming the key, also for kinds of scaling that are not planned. Unknown keys
// within the objects are appended to `unknown_keys`.
absl::StatusOr<RopeConfig> ReadRopeConfig(JsonFields& config,
                                          std::vector<std::string>& unknown_keys);

}  // namespace meshwright::planner

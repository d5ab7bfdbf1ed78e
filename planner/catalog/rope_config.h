// The keys of a config.json about its rotary embedding: rope_theta and rope_scaling, or both within
// rope_parameters, as newer files have them.
#pragma once

#include "absl/status/statusor.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/rope_scaling.h"

namespace meshwright::planner {

struct RopeConfig {
  double theta = 10000.0;
  RopeScaling scaling;
};

// InvalidArgument naming the key, for kinds of scaling that are not planned too. Keys within the
// objects that mean nothing here are appended to `unknown_keys`.
absl::StatusOr<RopeConfig> ReadRopeConfig(JsonFields& config,
                                          std::vector<std::string>& unknown_keys);

}  // namespace meshwright::planner

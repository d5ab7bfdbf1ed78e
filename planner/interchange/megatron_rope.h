// Writes the flags of Megatron-LM for a model's encoding of positions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "planner/interchange/aside_keys.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Appends the flags. If Megatron-LM has no flags for the encoding, returns InvalidArgument, which
// names the key of the model's config, its value and what Megatron-LM accepts.
absl::Status AddPositions(const ModelSpec& model, bool is_hybrid, AsideKeys& aside,
                          std::vector<std::string>& flags);

}  // namespace meshwright::planner

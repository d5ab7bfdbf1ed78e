// Which architectures of config.json are planned, and in words what the others have that is not.
//
// The knowledge is a data file (planner/data/architectures.json): planned families with their
// defaults, what is missing with the keys that tell of it, other families with what they need, and
// the keys that change nothing about a model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

// A planned family: a dense decoder with RMSNorm, rotary embedding, grouped queries and SwiGLU.
struct Architecture {
  std::string model_type;
  double norm_epsilon = 0.0;        // where config.json has none
  std::optional<int64_t> head_dim;  // likewise; otherwise hidden_size / num_attention_heads
  bool qkv_bias = false;
  bool qk_norm = false;
  bool window_needs_switch = false;  // sliding_window counts only with use_sliding_window
};

// The family of a config.json. Where the planner lacks something that the config asks for,
// InvalidArgument that names every such thing with the key and value that say so, and what is
// planned.
absl::StatusOr<Architecture> ArchitectureOf(const nlohmann::json& config);

// Whether the table has `key`: it changes no model, or ArchitectureOf() has looked at it.
bool IsKnownConfigKey(std::string_view key);

}  // namespace meshwright::planner

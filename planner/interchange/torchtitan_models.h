// The models of torchtitan 0.3: its modules Llama 3 and Qwen3, and their flavors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// A module of torchtitan, with the properties that all its flavors have in common.
struct TorchtitanFamily {
  const char* name;
  int64_t vocab;
  double norm_epsilon;
  double rope_theta;
  RopeScaling rope_scaling;
};

// A model that torchtitan defines by name in a module.
struct TorchtitanFlavor {
  const char* name;
  const TorchtitanFamily& family;
  int64_t hidden, layers, heads, kv_heads, ffn_hidden;
  int64_t head_dim = 128;
  bool tied_embeddings = false;
};

// Return the module of a model, and the flavor that is exactly this model; null if there is none.
const TorchtitanFamily& TorchtitanFamilyOf(const ModelSpec& model);
const TorchtitanFlavor* FindTorchtitanFlavor(const ModelSpec& model);
// Returns the flavor with this name in the module; null if there is none.
const TorchtitanFlavor* FindTorchtitanFlavor(std::string_view family, std::string_view name);

// Returns InvalidArgument if neither module can express the model.
absl::Status CheckTorchtitanModel(const ModelSpec& model);

// Returns comment lines with the sizes that a new flavor for the model needs.
std::string TorchtitanModelComment(const ModelSpec& model);

}  // namespace meshwright::planner

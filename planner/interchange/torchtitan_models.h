// What torchtitan 0.3 has of models: its modules Llama 3 and Qwen3, and the flavors in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// The properties that all of torchtitan's models of one name have in common.
struct TorchtitanFamily {
  const char* name;
  int64_t vocab;
  double norm_epsilon;
  double rope_theta;
  RopeScaling rope_scaling;
};

// A model that torchtitan has under a name of its own.
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

// Returns lines that say what a new flavor of the model needs.
std::string TorchtitanModelComment(const ModelSpec& model);

}  // namespace meshwright::planner

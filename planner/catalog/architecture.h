// Architecture describes a family of models that the planner can plan, as recognized by the model's
// config.json. For any other family the error says in words what the planner lacks.
//
// All families are in a data file, planner/data/architectures.json. It lists the families that the
// planner can plan, with their defaults; features that may be missing for a family, with the keys
// that indicate them; known families that it can't plan, with the features that are missing for
// them; and the keys that do not change a model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// A planned family of decoders. Anything not given is as in Llama: RMSNorm, rotary embedding,
// grouped queries, SwiGLU, no biases, no experts.
struct Architecture {
  std::string model_type;
  double norm_epsilon = 0.0;        // default if config.json has none
  std::optional<int64_t> head_dim;  // likewise; without it, hidden_size / num_attention_heads
  bool qkv_bias = false;
  bool qk_norm = false;
  bool qk_norm_over_width = false;
  bool output_bias = false;
  bool ffn_bias = false;
  bool head_bias = false;
  bool embedding_norm = false;
  bool tied = false;  // default if config.json does not say
  FfnKind ffn = FfnKind::kSwiGlu;
  StreamNorm norm = StreamNorm::kRms;
  Arrangement arrangement = Arrangement::kSequential;
  Positions positions = Positions::kRotary;
  double rotary_share = 1.0;    // default if config.json has none
  int64_t position_offset = 0;  // rows of learned positions in addition to those that are used
  std::optional<int64_t> ffn_multiple;  // of hidden_size, if config.json has no width
  std::optional<int64_t> kv_heads;      // overrides config.json
  std::vector<std::string> left_aside;  // keys that ask for dropout, which is not planned
  // Whether sliding_window counts only if use_sliding_window is set, and then only for layers from
  // max_window_layers on.
  bool window_needs_switch = false;
  bool windows_alternate = false;  // every other layer has a window, including the first
  bool sinks = false;
  bool latent = false;  // multi-head latent attention
  bool has_experts = false;
  std::string dense_width_key = "intermediate_size";  // for layers without experts
  std::string expert_width_key = "moe_intermediate_size";
  int64_t shared_experts = 0;  // default if config.json has no number
  bool shared_gate = false;
  bool router_bias = false;
  bool selection_bias = false;
  bool clamped_swiglu = false;
  RouterScore router_score = RouterScore::kSoftmax;
};

// Returns the config in Llama's terms. Keys that its family names otherwise have Llama's names,
// absent keys have the family's defaults, and keys that the family ignores are removed. The config
// of an unknown family is returned unchanged.
nlohmann::json CanonicalConfig(nlohmann::json config);

// Returns the family of a canonical config.json. Returns InvalidArgument if the config asks for
// something that the planner lacks. The message names every such thing with its key and value, and
// says what is planned.
absl::StatusOr<Architecture> ArchitectureOf(const nlohmann::json& config);

// Returns whether the data file lists `key`: either the key changes no model, or ArchitectureOf()
// checks it.
bool IsKnownConfigKey(std::string_view key);

}  // namespace meshwright::planner

// Architecture says how the block of a config.json is built. The family's name gives the defaults
// (planner/data/architectures.json), which the keys of the config.json change.
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

// A decoder. The defaults are those of Llama: RMSNorm, rotary embedding, grouped queries, SwiGLU,
// no biases, no experts.
struct Architecture {
  std::string model_type;
  bool is_listed = true;            // false if only the config's keys tell how the block is built
  double norm_epsilon = 0.0;        // default if config.json has none
  std::optional<int64_t> head_dim;  // default; if unset, hidden_size / heads
  bool rounds_head_dim = false;     // rounds down if heads do not divide hidden_size
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
  double rotary_share = 1.0;            // default if config.json has none
  int64_t position_offset = 0;          // rows of learned positions that no token uses
  std::optional<int64_t> ffn_multiple;  // FFN width / hidden_size, if config.json has no width
  std::optional<int64_t> kv_heads;      // overrides config.json
  std::vector<SetAsideKey> set_aside;
  // Keys, with their values, that change neither memory nor step time and are no part of the model.
  std::vector<std::string> without_effect;
  // If true, sliding_window counts only if use_sliding_window is set, and then only for layers from
  // max_window_layers on.
  bool window_needs_switch = false;
  bool sinks = false;
  bool latent = false;  // multi-head latent attention
  bool has_experts = false;
  std::string dense_width_key;  // key of the FFN width of layers without experts
  std::string expert_width_key;
  int64_t shared_experts = 0;  // default if config.json has no number
  bool shared_gate = false;
  bool router_bias = false;
  bool selection_bias = false;
  bool clamped_swiglu = false;
  RouterScore router_score = RouterScore::kSoftmax;
  AttentionGate attention_gate = AttentionGate::kNone;
  bool value_norm = false;
  bool index_from_hidden = false;
  bool index_by_name = false;   // only layers that a list names have an index
  bool compressed = false;      // DeepSeek-V4's attention
  bool merges_streams = false;  // a product merges the streams after the last layer
  bool mixes_streams = true;    // whether hyper-connections mix the streams with each other
  bool residual_scales = false;
  bool latent_norms = false;
  // LongCat-Flash: one layer of the file becomes two planned layers.
  bool layers_in_halves = false;
  bool dense_beside_experts = false;  // layers with experts also have the dense FFN
  int64_t ffn_divisor = 1;            // divides the width of the dense FFN
  // The recurrence of the layers that have one.
  RecurrenceKind recurrence = RecurrenceKind::kNone;
  bool beside_attention = false;  // every layer has the recurrence and attention
  // Zamba2: layers with attention run a block whose weights they share (SharedBlock); the others
  // have only the recurrence.
  bool shared_blocks = false;
  bool recurs_by_default = false;  // if no key says otherwise, every layer has only the recurrence
  // Kimi delta attention: gates are projected through a latent as wide as a head.
  bool ranked_gates = false;
  bool inner_norms = false;
  bool projection_bias = false;
};

// Returns how the block of a canonical config (CanonicalConfig()) is built, for sequences of
// `seq_len` tokens. Returns InvalidArgument, which names the keys with their values, if the config
// asks for something that the planner lacks.
absl::StatusOr<Architecture> ArchitectureOf(const nlohmann::json& config, int64_t seq_len = 4096);

}  // namespace meshwright::planner

// kToyGptOss is the config.json of a toy GPT-OSS model, with sinks, a window in every other layer,
// biases in all products, and clamped SwiGLU.
#pragma once

namespace meshwright::trial {

// About half of the values of a freshly initialised model exceed swiglu_limit.
inline constexpr char kToyGptOss[] = R"({
  "architectures": ["GptOssForCausalLM"],
  "attention_bias": true,
  "attention_dropout": 0.0,
  "experts_per_token": 2,
  "head_dim": 8,
  "hidden_act": "silu",
  "hidden_size": 32,
  "initial_context_length": 8,
  "initializer_range": 0.02,
  "intermediate_size": 24,
  "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
  "max_position_embeddings": 256,
  "model_type": "gpt_oss",
  "num_attention_heads": 4,
  "num_experts_per_tok": 2,
  "num_hidden_layers": 4,
  "num_key_value_heads": 2,
  "num_local_experts": 4,
  "output_router_logits": false,
  "rms_norm_eps": 1e-05,
  "rope_scaling": {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0,
                   "original_max_position_embeddings": 8, "rope_type": "yarn", "truncate": false},
  "rope_theta": 150000,
  "router_aux_loss_coef": 0.25,
  "sliding_window": 6,
  "swiglu_limit": 0.08,
  "tie_word_embeddings": false,
  "use_cache": true,
  "vocab_size": 64
})";

}  // namespace meshwright::trial

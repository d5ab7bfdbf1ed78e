// Recompute says which tensors a layout's backward recomputes so that the forward need not keep
// them. It is the value of rc= in the layout's text: "none", "selective", "full", "block:4", or
// modules such as "layernorm+mla_up_proj".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"
#include "planner/containers/enum_set.h"

namespace meshwright::planner {

enum class Recompute : uint8_t {
  kNone,
  kSelective,  // in every layer, the operators that the framework's profile names
  kFull,       // every layer from its input
  kBlock,      // the first layers of each chunk, each from its input
  kModules,    // named parts of every layer
};

inline constexpr EnumNames<Recompute, 5> kRecomputeNames = {{
    {Recompute::kNone, "none"},
    {Recompute::kSelective, "selective"},
    {Recompute::kFull, "full"},
    {Recompute::kBlock, "block"},
    {Recompute::kModules, "modules"},
}};

// Parts of a layer, named as in Megatron-Core's --recompute-modules. Modules that free the most
// bytes for each FLOP of recompute come first. Norms and activations are bound by memory bandwidth.
// The up-projection of DeepSeek-V3 costs 0.8 kFLOP per byte. A dense FFN costs as many FLOPs per
// byte as the model's hidden size. Experts also repeat their all-to-alls.
enum class RecomputeModule : uint8_t {
  kLayerNorm,      // norms that are separate modules: before latent attention and experts
  kMoeAct,         // the experts' activation
  kMlaUpProj,      // up-projection from latents to queries, keys and values, with norms and RoPE
  kSharedExperts,  // the FFN that all tokens of a layer with experts pass through
  kMlp,            // the FFN of layers without experts
  kMoe,            // router, experts and shared experts
  kCoreAttn,       // attention without its projections
};

using RecomputeModules = EnumSet<RecomputeModule>;

inline constexpr EnumNames<RecomputeModule, 7> kRecomputeModuleNames = {{
    {RecomputeModule::kLayerNorm, "layernorm"},
    {RecomputeModule::kMoeAct, "moe_act"},
    {RecomputeModule::kMlaUpProj, "mla_up_proj"},
    {RecomputeModule::kSharedExperts, "shared_experts"},
    {RecomputeModule::kMlp, "mlp"},
    {RecomputeModule::kMoe, "moe"},
    {RecomputeModule::kCoreAttn, "core_attn"},
}};

std::string_view RecomputeName(Recompute recompute);
std::string_view RecomputeModuleName(RecomputeModule module);

// Returns the names of all modules: "layernorm, moe_act, ...".
std::string AllRecomputeModules();

// Returns the modules of a text: names separated by +, blanks or commas. Returns InvalidArgument,
// which says what would be accepted, if a name is unknown or the text has no name.
absl::StatusOr<RecomputeModules> ParseRecomputeModules(std::string_view text);

}  // namespace meshwright::planner

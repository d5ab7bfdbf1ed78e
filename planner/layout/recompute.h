// What a layout's backward runs again instead of keeping it: the value of rc= in its text, "none",
// "selective", "full", "block:4", or modules such as "layernorm+mla_up_proj".
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
  kSelective,  // what the framework's profile says, in every layer
  kFull,       // every layer from its input
  kBlock,      // so the first layers of each chunk
  kModules,    // named parts of every layer
};

inline constexpr EnumNames<Recompute, 5> kRecomputeNames = {{
    {Recompute::kNone, "none"},
    {Recompute::kSelective, "selective"},
    {Recompute::kFull, "full"},
    {Recompute::kBlock, "block"},
    {Recompute::kModules, "modules"},
}};

// Parts of a layer, under the names of Megatron-Core's --recompute-modules. Those that free the
// most bytes for the FLOPs that they run again come first: norms and activations run at the
// memory's speed, the up-projection of DeepSeek-V3 costs 0.8 kFLOP a byte, a dense FFN as many
// FLOPs a byte as the model is wide, experts their all-to-alls besides.
enum class RecomputeModule : uint8_t {
  kLayerNorm,      // norms that are modules of their own: before latent attention and experts
  kMoeAct,         // the experts' activation
  kMlaUpProj,      // queries, keys and values out of the latents, with their norms and RoPE
  kSharedExperts,  // the FFN beside the experts
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

std::string AllRecomputeModules();  // "layernorm, moe_act, ..."

// One name, or several divided by +, blanks or commas. InvalidArgument says what would be accepted.
absl::StatusOr<RecomputeModules> ParseRecomputeModules(std::string_view text);

}  // namespace meshwright::planner

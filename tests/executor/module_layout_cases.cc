// Layouts that recompute named modules, of models without experts and with them.
#include "tests/executor/layout_cases.h"

namespace meshwright::trial {
namespace {

constexpr ModelVariant kDense = {};
constexpr ModelVariant kTiedHeadNorm = {.tied = true, .qk_norm = true};
constexpr ModelVariant kGpt = {
    .ffn = planner::FfnKind::kGelu, .norm = planner::StreamNorm::kLayer, .biases = true};
constexpr ModelVariant kModuleRelu = {.ffn = planner::FfnKind::kRelu};
constexpr ModelVariant kModuleLatent = {.latent = true};
constexpr ModelVariant kModuleOddLatent = {.odd = true, .latent = true};
constexpr ModelVariant kModuleLatentWindow = {.window = 6, .latent = true};

constexpr ModelVariant kModuleMixtral = {.experts = 4};
constexpr ModelVariant kModuleShared = {.experts = 8, .top_k = 3, .shared = true};
constexpr ModelVariant kModuleDeepSeek = {
    .tied = true, .experts = 8, .shared = true, .sigmoid = true, .latent = true};
constexpr ModelVariant kModuleDropping = {
    .experts = 8, .top_k = 3, .shared = true, .capacity = 1.25, .router_losses = true};
constexpr ModelVariant kModuleSwitchLosses = {
    .experts = 4, .top_k = 1, .capacity = 1.0, .router_losses = true};

std::vector<LayoutCase> WithExperts(bool balanced) {
  std::vector<LayoutCase> cases = {
      {"tp1.pp1.dp1.mb2.rc=layernorm", kModuleMixtral},
      {"tp1.pp1.dp1.mb2.rc=moe_act", kModuleMixtral},
      {"tp1.pp1.dp1.mb2.rc=shared_experts", kModuleShared},
      {"tp1.pp1.dp1.mb2.rc=moe", kModuleMixtral},
      {"tp1.pp1.dp1.mb2.rc=moe+mlp", kModuleShared},
      {"tp1.pp1.dp2.ep2.rc=layernorm+moe_act", kModuleShared},
      {"tp1.pp1.dp2.ep2.rc=moe", kModuleShared},
      {"tp1.pp1.dp2.etp2.rc=moe", kModuleMixtral},
      {"tp1.pp1.dp4.ep2.etp2.rc=layernorm+moe", kModuleShared},
      {"tp2.pp1.dp1.ep2.mb2.sp1.rc=layernorm+moe", kModuleDeepSeek},
      {"tp2.pp1.dp2.ep4.sp1.rc=layernorm+moe_act+shared_experts+mlp", kModuleShared},
      {"tp2.pp1.dp1.etp2.sp1.rc=shared_experts", kModuleShared},
      {"tp1.cp2.pp1.dp1.ep2.rc=moe", kModuleMixtral},
      {"tp2.cp2.pp1.dp1.ep2.sp1.rc=mlp+moe", kModuleShared},
      {"tp1.pp2.dp2.ep2.rc=moe.sched=gpipe", kModuleMixtral},
      {"tp1.pp2.dp2.ep2.vpp2.rc=layernorm+moe_act.sched=interleaved", kModuleShared},
      {"tp1.pp2.dp2.ep2.vpp2.rc=moe.sched=breadth_first", kModuleMixtral},
      {"tp1.pp2.dp2.ep2.rc=moe.sched=zb_h1", kModuleShared},
      {"tp1.pp2.dp2.ep2.rc=layernorm+moe_act+shared_experts.sched=zb_h1", kModuleShared},
      {"tp1.pp2.dp2.ep2.vpp2.rc=layernorm+moe.sched=zb_v", kModuleShared},
      {"tp1.pp1.dp2.ep2.rc=layernorm+moe_act+mla_up_proj+shared_experts+mlp", kModuleDeepSeek},
      {"tp2.pp2.dp1.ep2.sp1.rc=layernorm+mla_up_proj+mlp+moe.sched=zb_h1", kModuleDeepSeek},
      {"tp2.cp2.pp1.dp1.ep2.etp2.sp1.rc=mla_up_proj+moe", kModuleDeepSeek},
      {"tp1.pp2.dp4.ep2.zero1.rc=moe", kModuleShared},
      {"tp1.pp2.dp4.ep2.zero2.rc=layernorm+moe_act.sched=zb_h1", kModuleMixtral},
      {"tp1.pp2.dp4.ep2.zero3.rc=moe", kModuleShared},
      {"tp2.pp1.dp2.ep2.zero3.sp1.rc=layernorm+mla_up_proj+moe", kModuleDeepSeek},
      {"tp1.pp2.dp4.ep2.vpp2.zero3.rc=moe_act+mla_up_proj.sched=breadth_first", kModuleDeepSeek},
      {"tp1.pp1.dp2.ep2.mb2.rc=moe", kModuleDropping},
      {"tp2.pp1.dp2.ep4.mb2.sp1.rc=layernorm+moe", kModuleDropping},
      {"tp2.cp2.pp1.dp1.ep4.sp1.rc=moe", kModuleDropping},
      {"tp2.pp1.dp2.ep2.etp2.mb4.sp1.rc=moe", kModuleSwitchLosses},
      {"tp1.pp2.dp2.ep2.rc=moe.sched=zb_h1", kModuleSwitchLosses},
      {"tp1.pp1.dp1.mb2.rc=layernorm+moe_act.offload=act:2", kModuleShared},
      {"tp1.pp2.dp2.ep2.rc=moe.offload=act:1", kModuleShared},
  };
  for (LayoutCase& one : cases) one.model.balanced = balanced;
  return cases;
}

}  // namespace

std::vector<LayoutCase> DenseModuleCases() {
  return {{"tp1.pp1.dp1.mb2.rc=mlp", kDense},
          {"tp2.pp1.dp1.mb2.rc=mlp", kDense},
          {"tp2.pp1.dp1.sp1.rc=mlp", kGpt},
          {"tp1.cp2.pp1.dp1.rc=mlp", kModuleRelu},
          {"tp1.pp2.dp1.rc=mlp.sched=zb_h1", kDense},
          {"tp2.pp2.dp1.vpp2.sp1.rc=mlp.sched=zb_v", kTiedHeadNorm},
          {"tp1.pp2.dp2.vpp2.zero3.rc=mlp.sched=breadth_first", kDense},
          {"tp1.pp1.dp2.zero2.rc=mlp", kTiedHeadNorm},
          {"tp2.pp1.dp1.mb2.rc=mlp.offload=act:2", kDense},
          {"tp1.pp1.dp1.mb2.rc=layernorm", kModuleLatent},
          {"tp1.pp1.dp1.mb2.rc=mla_up_proj", kModuleLatent},
          {"tp2.pp1.dp1.sp1.rc=mla_up_proj", kModuleLatent},
          {"tp4.pp1.dp1.rc=layernorm+mla_up_proj", kModuleLatent},
          {"tp1.cp2.pp1.dp1.rc=mla_up_proj+mlp", kModuleLatent},
          {"tp1.cp4.pp1.dp1.mb2.rc=mla_up_proj", kModuleLatentWindow},
          {"tp2.cp2.pp1.dp1.sp1.rc=layernorm+mla_up_proj+mlp", kModuleLatent},
          {"tp1.pp2.dp1.rc=mla_up_proj.sched=zb_h1", kModuleLatent},
          {"tp2.pp2.dp1.sp1.rc=layernorm.sched=zb_h1", kModuleLatent},
          {"tp2.pp2.dp1.vpp2.sp1.rc=layernorm+mla_up_proj.sched=zb_v", kModuleLatent},
          {"tp1.pp2.dp1.vpp2.rc=mla_up_proj.sched=interleaved", kModuleLatent},
          {"tp2.pp2.dp2.vpp2.zero3.sp1.rc=mla_up_proj+mlp.sched=breadth_first", kModuleLatent},
          {"tp1.pp1.dp4.zero2.rc=layernorm+mla_up_proj.hs=2", kModuleOddLatent},
          {"tp1.pp1.dp2.zero1.rc=mla_up_proj.offload=act:3", kModuleLatent}};
}

std::vector<LayoutCase> BalancedModuleCases() { return WithExperts(true); }

std::vector<LayoutCase> LearnedModuleCases() { return WithExperts(false); }

}  // namespace meshwright::trial

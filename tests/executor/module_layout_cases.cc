// Layouts that recompute named modules, of models without experts and with them.
#include "tests/executor/layout_cases.h"

namespace meshwright::trial {
namespace {

constexpr ModelVariant kDense = {};
constexpr ModelVariant kTiedHeadNorm = {.tied = true, .qk_norm = true};
constexpr ModelVariant kGpt = {
    .ffn = planner::FfnKind::kGelu, .norm = planner::StreamNorm::kLayer, .biases = true};
constexpr ModelVariant kRelu = {.ffn = planner::FfnKind::kRelu};
constexpr ModelVariant kLatent = {.latent = true};
constexpr ModelVariant kOddLatent = {.odd = true, .latent = true};
constexpr ModelVariant kLatentWindow = {.window = 6, .latent = true};

constexpr ModelVariant kMixtral = {.experts = 4};
constexpr ModelVariant kShared = {.experts = 8, .top_k = 3, .shared = true};
constexpr ModelVariant kDeepSeek = {
    .tied = true, .experts = 8, .shared = true, .sigmoid = true, .latent = true};
constexpr ModelVariant kDropping = {
    .experts = 8, .top_k = 3, .shared = true, .capacity = 1.25, .router_losses = true};
constexpr ModelVariant kSwitchLosses = {
    .experts = 4, .top_k = 1, .capacity = 1.0, .router_losses = true};

std::vector<LayoutCase> WithExperts(bool balanced) {
  std::vector<LayoutCase> cases = {
      {"tp1.pp1.dp1.mb2.rc=layernorm", kMixtral},
      {"tp1.pp1.dp1.mb2.rc=moe_act", kMixtral},
      {"tp1.pp1.dp1.mb2.rc=shared_experts", kShared},
      {"tp1.pp1.dp1.mb2.rc=moe", kMixtral},
      {"tp1.pp1.dp1.mb2.rc=moe+mlp", kShared},
      {"tp1.pp1.dp2.ep2.rc=layernorm+moe_act", kShared},
      {"tp1.pp1.dp2.ep2.rc=moe", kShared},
      {"tp1.pp1.dp2.etp2.rc=moe", kMixtral},
      {"tp1.pp1.dp4.ep2.etp2.rc=layernorm+moe", kShared},
      {"tp2.pp1.dp1.ep2.mb2.sp1.rc=layernorm+moe", kDeepSeek},
      {"tp2.pp1.dp2.ep4.sp1.rc=layernorm+moe_act+shared_experts+mlp", kShared},
      {"tp2.pp1.dp1.etp2.sp1.rc=shared_experts", kShared},
      {"tp1.cp2.pp1.dp1.ep2.rc=moe", kMixtral},
      {"tp2.cp2.pp1.dp1.ep2.sp1.rc=mlp+moe", kShared},
      {"tp1.pp2.dp2.ep2.rc=moe.sched=gpipe", kMixtral},
      {"tp1.pp2.dp2.ep2.vpp2.rc=layernorm+moe_act.sched=interleaved", kShared},
      {"tp1.pp2.dp2.ep2.vpp2.rc=moe.sched=breadth_first", kMixtral},
      {"tp1.pp2.dp2.ep2.rc=moe.sched=zb_h1", kShared},
      {"tp1.pp2.dp2.ep2.rc=layernorm+moe_act+shared_experts.sched=zb_h1", kShared},
      {"tp1.pp2.dp2.ep2.vpp2.rc=layernorm+moe.sched=zb_v", kShared},
      {"tp1.pp1.dp2.ep2.rc=layernorm+moe_act+mla_up_proj+shared_experts+mlp", kDeepSeek},
      {"tp2.pp2.dp1.ep2.sp1.rc=layernorm+mla_up_proj+mlp+moe.sched=zb_h1", kDeepSeek},
      {"tp2.cp2.pp1.dp1.ep2.etp2.sp1.rc=mla_up_proj+moe", kDeepSeek},
      {"tp1.pp2.dp4.ep2.zero1.rc=moe", kShared},
      {"tp1.pp2.dp4.ep2.zero2.rc=layernorm+moe_act.sched=zb_h1", kMixtral},
      {"tp1.pp2.dp4.ep2.zero3.rc=moe", kShared},
      {"tp2.pp1.dp2.ep2.zero3.sp1.rc=layernorm+mla_up_proj+moe", kDeepSeek},
      {"tp1.pp2.dp4.ep2.vpp2.zero3.rc=moe_act+mla_up_proj.sched=breadth_first", kDeepSeek},
      {"tp1.pp1.dp2.ep2.mb2.rc=moe", kDropping},
      {"tp2.pp1.dp2.ep4.mb2.sp1.rc=layernorm+moe", kDropping},
      {"tp2.cp2.pp1.dp1.ep4.sp1.rc=moe", kDropping},
      {"tp2.pp1.dp2.ep2.etp2.mb4.sp1.rc=moe", kSwitchLosses},
      {"tp1.pp2.dp2.ep2.rc=moe.sched=zb_h1", kSwitchLosses},
      {"tp1.pp1.dp1.mb2.rc=layernorm+moe_act.offload=act:2", kShared},
      {"tp1.pp2.dp2.ep2.rc=moe.offload=act:1", kShared},
  };
  for (LayoutCase& one : cases) one.model.balanced = balanced;
  return cases;
}

}  // namespace

std::vector<LayoutCase> DenseModuleCases() {
  return {{"tp1.pp1.dp1.mb2.rc=mlp", kDense},
          {"tp2.pp1.dp1.mb2.rc=mlp", kDense},
          {"tp2.pp1.dp1.sp1.rc=mlp", kGpt},
          {"tp1.cp2.pp1.dp1.rc=mlp", kRelu},
          {"tp1.pp2.dp1.rc=mlp.sched=zb_h1", kDense},
          {"tp2.pp2.dp1.vpp2.sp1.rc=mlp.sched=zb_v", kTiedHeadNorm},
          {"tp1.pp2.dp2.vpp2.zero3.rc=mlp.sched=breadth_first", kDense},
          {"tp1.pp1.dp2.zero2.rc=mlp", kTiedHeadNorm},
          {"tp2.pp1.dp1.mb2.rc=mlp.offload=act:2", kDense},
          {"tp1.pp1.dp1.mb2.rc=layernorm", kLatent},
          {"tp1.pp1.dp1.mb2.rc=mla_up_proj", kLatent},
          {"tp2.pp1.dp1.sp1.rc=mla_up_proj", kLatent},
          {"tp4.pp1.dp1.rc=layernorm+mla_up_proj", kLatent},
          {"tp1.cp2.pp1.dp1.rc=mla_up_proj+mlp", kLatent},
          {"tp1.cp4.pp1.dp1.mb2.rc=mla_up_proj", kLatentWindow},
          {"tp2.cp2.pp1.dp1.sp1.rc=layernorm+mla_up_proj+mlp", kLatent},
          {"tp1.pp2.dp1.rc=mla_up_proj.sched=zb_h1", kLatent},
          {"tp2.pp2.dp1.sp1.rc=layernorm.sched=zb_h1", kLatent},
          {"tp2.pp2.dp1.vpp2.sp1.rc=layernorm+mla_up_proj.sched=zb_v", kLatent},
          {"tp1.pp2.dp1.vpp2.rc=mla_up_proj.sched=interleaved", kLatent},
          {"tp2.pp2.dp2.vpp2.zero3.sp1.rc=mla_up_proj+mlp.sched=breadth_first", kLatent},
          {"tp1.pp1.dp4.zero2.rc=layernorm+mla_up_proj.hs=2", kOddLatent},
          {"tp1.pp1.dp2.zero1.rc=mla_up_proj.offload=act:3", kLatent}};
}

std::vector<LayoutCase> BalancedModuleCases() { return WithExperts(true); }

std::vector<LayoutCase> LearnedModuleCases() { return WithExperts(false); }

}  // namespace meshwright::trial

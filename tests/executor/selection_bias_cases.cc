// The layouts that routers whose selection biases move are tested with.
#include "tests/executor/layout_cases.h"

namespace meshwright::trial {
namespace {

constexpr ModelVariant kSoftmax = {.experts = 8, .selection_bias = true};
constexpr ModelVariant kBiasedGroups = {
    .experts = 8, .shared = true, .sigmoid = true, .selection_bias = true};
constexpr ModelVariant kBiasedLatent = {
    .experts = 8, .shared = true, .sigmoid = true, .latent = true, .selection_bias = true};
// What is dropped was picked all the same.
constexpr ModelVariant kBiasedDropping = {
    .experts = 8, .top_k = 3, .capacity = 1.0, .router_losses = true, .selection_bias = true};

}  // namespace

std::vector<LayoutCase> SelectionBiasCases() {
  return {{"tp1.pp1.dp1.mb2", kSoftmax},
          {"tp1.pp1.dp1.mb4", kBiasedGroups},
          {"tp1.pp1.dp1.mb8", kBiasedDropping},
          {"tp1.pp1.dp2.ep2", kBiasedGroups},
          {"tp1.pp1.dp4.ep2.etp2.mb2", kSoftmax},
          {"tp2.pp1.dp1.mb2.sp1", kBiasedGroups},
          {"tp2.pp1.dp2.ep4.sp1", kBiasedDropping},
          {"tp1.cp2.pp1.dp1.ep2.mb2", kBiasedGroups},
          {"tp2.cp2.pp1.dp1.ep2.sp1", kSoftmax},
          {"tp1.pp2.dp2.ep2", kBiasedGroups},
          {"tp1.pp2.dp2.ep2.vpp2.sched=interleaved", kSoftmax},
          {"tp1.pp2.dp2.ep2.vpp2.sched=breadth_first", kBiasedGroups},
          {"tp1.pp2.dp2.ep2.sched=zb_h1", kBiasedDropping},
          {"tp1.pp2.dp2.ep2.vpp2.sched=zb_v", kBiasedGroups},
          {"tp1.pp1.dp2.ep2.rc=full", kBiasedGroups},
          {"tp2.pp1.dp1.ep2.sp1.rc=selective", kSoftmax},
          {"tp1.pp2.dp2.rc=block:1", kBiasedGroups},
          {"tp1.pp1.dp4.ep2.zero1", kBiasedGroups},
          {"tp2.pp1.dp2.ep2.zero2.sp1", kBiasedLatent},
          {"tp1.pp2.dp2.ep2.zero3", kBiasedGroups},
          {"tp1.cp2.pp1.dp2.zero3", kSoftmax}};
}

}  // namespace meshwright::trial

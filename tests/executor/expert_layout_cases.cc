// The layouts that experts are tested with.
#include "tests/executor/layout_cases.h"

namespace meshwright::trial {
namespace {

constexpr ModelVariant kMixtral = {.experts = 4};
constexpr ModelVariant kShared = {.experts = 8, .top_k = 3, .shared = true};
constexpr ModelVariant kDeepSeek = {.tied = true, .experts = 8, .shared = true, .sigmoid = true};
// With latent attention, as DeepSeek's are.
constexpr ModelVariant kLatent = {.experts = 8, .shared = true, .sigmoid = true, .latent = true};
constexpr ModelVariant kSwitch = {.experts = 4, .top_k = 1};
// Which lose tokens where routing is learned, at the least capacity and at a usual one.
constexpr ModelVariant kFull = {.experts = 4, .capacity = 1.0, .router_losses = true};
constexpr ModelVariant kDropping = {
    .experts = 8, .top_k = 3, .shared = true, .capacity = 1.25, .router_losses = true};
// Groups ranked by the sum of their best two, and losses of sigmoid scores.
constexpr ModelVariant kGroups = {.experts = 8, .sigmoid = true, .router_losses = true};
constexpr ModelVariant kSwitchLosses = {
    .experts = 4, .top_k = 1, .capacity = 1.0, .router_losses = true};
constexpr ModelVariant kEight = {.kv_heads = 4, .experts = 8};

std::vector<LayoutCase> WithRouting(bool balanced) {
  std::vector<LayoutCase> cases = {
      {"tp1.pp1.dp1.mb2", kMixtral},
      {"tp1.pp1.dp1.mb2", kShared},
      {"tp1.pp1.dp1.mb2", kDeepSeek},
      {"tp1.pp1.dp1.mb2", kSwitch},
      {"tp1.pp1.dp2.ep2.mb2", kMixtral},
      {"tp1.pp1.dp2.ep2", kShared},
      {"tp1.pp1.dp2.ep2", kDeepSeek},
      {"tp1.pp1.dp2.ep2", kSwitch},
      {"tp1.pp1.dp4.ep4", kEight},
      {"tp1.pp1.dp4.ep2", kMixtral},
      {"tp1.pp1.dp2.mb2", kMixtral},
      {"tp1.pp1.dp2.etp2", kMixtral},
      {"tp1.pp1.dp4.ep2.etp2", kShared},
      {"tp2.pp1.dp1.mb2.sp1", kMixtral},
      {"tp2.pp1.dp1.mb2.sp1", kShared},
      {"tp2.pp1.dp1.ep2.mb2.sp1", kDeepSeek},
      {"tp2.pp1.dp1.etp2.mb2.sp1", kShared},
      {"tp2.pp1.dp2.ep2.sp1", kEight},
      {"tp2.pp1.dp2.ep4.sp1", kShared},
      {"tp2.pp1.dp2.ep2.etp2.sp1", kDeepSeek},
      {"tp1.cp2.pp1.dp1.ep2", kMixtral},
      {"tp1.cp2.pp1.dp2.ep4", kEight},
      {"tp2.cp2.pp1.dp1.ep2.sp1", kShared},
      {"tp1.pp2.dp1", kMixtral},
      {"tp1.pp2.dp2.ep2", kShared},
      {"tp1.pp2.dp2.ep2", kDeepSeek},
      {"tp2.pp2.dp1.ep2.sp1", kEight},
      {"tp1.pp2.dp2.ep2.sched=gpipe", kMixtral},
      {"tp1.pp2.dp2.ep2.vpp2.sched=interleaved", kShared},
      {"tp1.pp2.dp2.ep2.vpp2.sched=breadth_first", kMixtral},
      {"tp1.pp1.dp2.ep2.vpp2.sched=breadth_first", kShared},
      {"tp1.pp2.dp2.ep2.sched=zb_h1", kMixtral},
      {"tp1.pp2.dp2.ep2.sched=zb_h1", kShared},
      {"tp2.pp2.dp1.ep2.sp1.sched=zb_h1", kDeepSeek},
      {"tp1.pp2.dp2.ep2.vpp2.sched=zb_v", kShared},
      {"tp1.pp1.dp2.ep2.rc=full", kShared},
      {"tp1.pp1.dp2.ep2.rc=selective", kShared},
      {"tp1.pp1.dp2.ep2.rc=block:1", kMixtral},
      {"tp2.pp1.dp1.ep2.sp1.rc=full", kMixtral},
      {"tp2.pp1.dp1.etp2.sp1.rc=selective", kDeepSeek},
      {"tp1.pp2.dp2.ep2.rc=full.sched=zb_h1", kShared},
      {"tp1.pp2.dp2.ep2.rc=selective.sched=zb_h1", kMixtral},
      {"tp1.pp1.dp1.mb2", kFull},
      {"tp1.pp1.dp1.mb4", kGroups},
      {"tp1.pp1.dp1.mb2", kSwitchLosses},
      {"tp1.pp1.dp2.ep2.mb2", kDropping},
      {"tp1.pp1.dp4.ep2.mb2", kGroups},
      {"tp1.pp1.dp2.etp2", kFull},
      {"tp2.pp1.dp1.mb1.sp1", kFull},
      {"tp2.pp1.dp2.ep4.mb2.sp1", kDropping},
      {"tp4.pp1.dp1.ep2.mb2.sp1",
       ModelVariant{.kv_heads = 4, .experts = 8, .capacity = 1.25, .router_losses = true}},
      {"tp2.pp1.dp2.ep2.etp2.mb4.sp1", kSwitchLosses},
      {"tp1.cp2.pp1.dp1.ep2.mb2", kFull},
      {"tp2.cp2.pp1.dp1.ep4.sp1", kDropping},
      {"tp2.cp2.pp1.dp1.ep2.etp2.mb4.sp1", kGroups},
      {"tp2.pp2.dp1.ep2.sp1", kDropping},
      {"tp1.pp2.dp2.ep2.vpp2.sched=interleaved", kFull},
      {"tp1.pp2.dp2.ep2.sched=zb_h1", kGroups},
      {"tp2.pp2.dp1.ep2.sp1.sched=zb_h1", kDropping},
      {"tp2.pp1.dp1.ep2.sp1.rc=full", kFull},
      {"tp1.cp2.pp1.dp1.ep2.rc=selective", kDropping},
      {"tp1.pp1.dp2.ep2.mb2", kLatent},
      {"tp2.pp1.dp2.ep4.sp1", kLatent},
      {"tp1.cp2.pp1.dp1.ep2", kLatent},
      {"tp2.pp2.dp1.ep2.sp1.sched=zb_h1", kLatent},
      {"tp1.pp2.dp2.ep2.vpp2.rc=full.sched=interleaved", kLatent},
  };
  const std::vector<LayoutCase> sharded = {
      {"tp1.pp1.dp2", kMixtral},
      {"tp1.pp1.dp4.ep2", kShared},
      {"tp1.pp1.dp2.ep2", kDeepSeek},
      {"tp2.pp1.dp2.ep2.sp1", kShared},
      {"tp2.pp1.dp1.sp1", kMixtral},
      {"tp1.cp2.pp1.dp2.ep2", kMixtral},
      {"tp1.pp2.dp4.ep2", kShared},
      {"tp2.pp1.dp2.ep2.sp1", kLatent},
      {"tp1.pp2.dp4.ep2.vpp2.sched=interleaved", kMixtral},
      {"tp1.pp2.dp4.ep2.vpp2.sched=breadth_first", kShared},
      {"tp1.pp2.dp4.ep2.sched=zb_h1", kDeepSeek},
      {"tp2.pp1.dp2.ep2.sp1", kFull},
      {"tp1.pp2.dp2.ep2", kGroups},
  };
  for (const char* stage : {".zero1", ".zero2", ".zero3"}) {
    for (LayoutCase one : sharded) {
      const size_t schedule = one.layout.find(".sched=");
      one.layout.insert(schedule == std::string::npos ? one.layout.size() : schedule, stage);
      cases.push_back(one);
    }
  }
  for (LayoutCase& one : cases) one.model.balanced = balanced;
  return cases;
}

}  // namespace

// Experts divided and not, with few replicas and many; of each ZeRO stage.
std::vector<LayoutCase> MuonExpertCases() {
  ModelVariant mixtral = {.experts = 4, .balanced = true, .muon = true};
  ModelVariant shared = {.experts = 8, .top_k = 3, .shared = true, .balanced = true, .muon = true};
  ModelVariant latent = {.experts = 8,
                         .shared = true,
                         .sigmoid = true,
                         .balanced = true,
                         .latent = true,
                         .muon = true};
  return {{"tp1.pp1.dp1.mb2", mixtral},
          {"tp1.pp1.dp2.ep2", shared},
          {"tp1.pp1.dp4.ep2.etp2", shared},
          {"tp2.pp1.dp2.ep2.etp2.sp1", mixtral},
          {"tp1.pp1.dp2.zero1", mixtral},
          {"tp1.pp1.dp4.ep2.zero1", shared},
          {"tp2.pp1.dp2.etp2.zero1.sp1", mixtral},
          {"tp2.pp1.dp2.ep2.zero2.sp1", latent},
          {"tp1.pp1.dp4.etp2.zero2", mixtral},
          {"tp1.pp2.dp4.ep2.zero3", shared},
          {"tp1.pp2.dp4.ep2.vpp2.zero3.sched=breadth_first", latent}};
}

std::vector<LayoutCase> BalancedExpertCases() { return WithRouting(true); }

std::vector<LayoutCase> LearnedExpertCases() { return WithRouting(false); }

}  // namespace meshwright::trial

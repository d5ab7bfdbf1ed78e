// Layouts of models whose products take E4M3 factors: few layers, few sequences.
#include "tests/executor/layout_cases.h"

namespace meshwright::trial {
namespace {

LayoutCase Narrow(const char* layout, ModelVariant model = {}) {
  if (model.layers == 4) model.layers = 2;
  return {layout, model, /*global_batch=*/4};
}

LayoutCase NarrowOfFour(const char* layout, ModelVariant model = {}) {
  return {layout, model, /*global_batch=*/4};
}

}  // namespace

std::vector<LayoutCase> NarrowCases() {
  return {
      Narrow("tp1.pp1.dp1"),
      Narrow("tp1.pp1.dp1.mb2", {.kv_heads = 1}),
      Narrow("tp1.pp1.dp1.mb2", {.tied = true, .qk_norm = true}),
      Narrow("tp1.pp1.dp1", {.ffn = planner::FfnKind::kGelu}),
      Narrow("tp1.pp1.dp1", {.ffn = planner::FfnKind::kRelu}),
      Narrow("tp2.pp1.dp1.mb2"),
      Narrow("tp2.pp1.dp1", {.qkv_bias = true}),
      Narrow("tp2.pp1.dp1.sp1"),
      Narrow("tp2.pp1.dp1.mb2.sp1", {.qk_norm = true}),
      Narrow("tp2.pp1.dp1.sp1.rc=selective"),
      Narrow("tp2.pp1.dp1.sp1.rc=full"),
      Narrow("tp1.pp1.dp1.rc=selective", {.ffn = planner::FfnKind::kRelu}),
      Narrow("tp1.cp2.pp1.dp1"),
      Narrow("tp1.cp2.pp1.dp1.mb2.rc=full"),
      Narrow("tp1.pp2.dp1"),
      NarrowOfFour("tp1.pp2.dp1.vpp2.sched=interleaved"),
      Narrow("tp1.pp2.dp1.sched=zb_h1"),
      NarrowOfFour("tp1.pp2.dp1.vpp2.sched=zb_v"),
      NarrowOfFour("tp1.pp1.dp2.vpp2.zero3.sched=breadth_first"),
      Narrow("tp1.pp1.dp2"),
      Narrow("tp1.pp1.dp2.zero1", {.muon = true}),
      Narrow("tp1.pp1.dp2.zero2"),
      Narrow("tp1.pp1.dp2.zero3.rc=block:1"),
      Narrow("tp2.pp2.dp1.sp1.sched=zb_h1"),
      Narrow("tp2.cp2.pp1.dp1.sp1"),
      Narrow("tp2.pp1.dp2.zero3.sp1.rc=selective"),
      Narrow("tp2.cp2.pp2.dp2.zero1.sp1", {.tied = true}),
  };
}

// Two experts take the tokens in turn, so that every cut of 256 tokens has a tile of each.
std::vector<LayoutCase> NarrowExpertCases() {
  const ModelVariant two = {.layers = 2, .experts = 2, .top_k = 1, .balanced = true};
  const ModelVariant both = {
      .layers = 2, .experts = 2, .top_k = 2, .shared = true, .sigmoid = true, .balanced = true};
  return {
      Narrow("tp1.pp1.dp1", two),
      Narrow("tp1.pp1.dp1.mb2.rc=selective", both),
      Narrow("tp1.pp1.dp2.ep2", two),
      Narrow("tp1.pp1.dp2.ep2.zero2.rc=full", both),
      Narrow("tp1.pp1.dp2.etp2.zero1", two),
      Narrow("tp2.pp1.dp1.ep2.mb2.sp1", both),
      Narrow("tp1.cp2.pp1.dp1.ep2", two),
      Narrow("tp1.pp2.dp2.ep2.zero1.sched=zb_h1", two),
      Narrow("tp1.pp1.dp2.ep2.zero3", both),
  };
}

std::vector<LayoutCase> NarrowBf16Cases() {
  return {Narrow("tp1.pp1.dp1"), Narrow("tp2.pp1.dp1.sp1.rc=selective"), Narrow("tp1.cp2.pp1.dp1"),
          Narrow("tp1.pp2.dp1.sched=zb_h1"), Narrow("tp1.pp1.dp2.zero3")};
}

}  // namespace meshwright::trial

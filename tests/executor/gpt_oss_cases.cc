// The layouts that a model with everything of GPT-OSS is tested with.
#include "tests/executor/layout_cases.h"
#include "tests/executor/toy_gpt_oss.h"

namespace meshwright::trial {
namespace {

constexpr ModelVariant kToy = {.config = kToyGptOss, .config_name = "gpt_oss"};

// With experts beside their tensor parallel, their parameters' replicas and neither.
std::vector<LayoutCase> GptOssWithRouting(bool balanced) {
  const std::vector<const char*> layouts = {
      "tp1.pp1.dp1.mb2",
      "tp1.pp1.dp2.mb2",
      "tp1.pp1.dp2.ep2.mb2",
      "tp1.pp1.dp4.ep4",
      "tp1.pp1.dp2.etp2.mb2",
      "tp1.pp1.dp4.ep2.etp2",
      "tp1.pp1.dp4.etp4.mb2",
      "tp2.pp1.dp1.mb2.sp1",
      "tp2.pp1.dp1.ep2.sp1",
      "tp2.pp1.dp1.etp2.mb2.sp1",
      "tp2.pp1.dp2.ep2.etp2.sp1",
      "tp1.cp2.pp1.dp1.mb2",
      "tp1.cp2.pp1.dp1.ep2.mb2",
      "tp1.cp4.pp1.dp1.etp2",
      "tp2.cp2.pp1.dp1.ep2.etp2.sp1",
      "tp1.pp2.dp1",
      "tp1.pp4.dp1",
      "tp1.pp2.dp2.ep2.sched=gpipe",
      "tp1.pp2.dp2.etp2.vpp2.sched=interleaved",
      "tp1.pp2.dp2.ep2.vpp2.sched=breadth_first",
      "tp2.pp2.dp1.etp2.sp1.sched=zb_h1",
      "tp1.pp2.dp2.ep2.sched=zb_h1",
      "tp1.cp2.pp2.dp1.etp2.vpp2.sched=zb_v",
      "tp1.pp1.dp2.ep2.rc=selective",
      "tp1.pp1.dp2.etp2.rc=full",
      "tp1.pp2.dp2.ep2.rc=block:1",
      "tp2.pp2.dp1.ep2.sp1.rc=full.sched=zb_h1",
      "tp1.pp1.dp2.zero1",
      "tp2.pp1.dp2.etp2.zero1.sp1",
      "tp1.pp1.dp4.ep2.zero2",
      "tp1.pp1.dp4.etp2.zero2",
      "tp1.pp2.dp4.ep2.zero2.sched=zb_h1",
      "tp1.cp2.pp1.dp2.ep2.zero3",
      "tp2.pp1.dp2.etp2.zero3.sp1.rc=selective",
      "tp1.pp2.dp4.etp2.vpp2.zero3.sched=breadth_first",
  };
  std::vector<LayoutCase> cases;
  for (const char* layout : layouts) {
    cases.push_back({layout, kToy});
    cases.back().model.balanced = balanced;
  }
  return cases;
}

}  // namespace

std::vector<LayoutCase> BalancedGptOssCases() { return GptOssWithRouting(true); }

std::vector<LayoutCase> LearnedGptOssCases() { return GptOssWithRouting(false); }

// Vectors among the matrices of experts, of each ZeRO stage.
std::vector<LayoutCase> MuonGptOssCases() {
  ModelVariant toy = kToy;
  toy.balanced = true;
  toy.muon = true;
  return {{"tp1.pp1.dp2.ep2", toy},
          {"tp2.pp1.dp2.ep2.etp2.sp1", toy},
          {"tp1.pp1.dp4.etp2.zero1", toy},
          {"tp1.pp1.dp4.ep2.zero2", toy},
          {"tp1.pp2.dp4.etp2.zero3", toy}};
}

}  // namespace meshwright::trial

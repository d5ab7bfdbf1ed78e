#include "tests/executor/process_cases.h"

#include "tests/executor/toy_gpt_oss.h"

namespace meshwright::trial {
namespace {

constexpr ModelVariant kTiedProcesses = {.tied = true};
constexpr ModelVariant kQkNormProcesses = {.qk_norm = true};
constexpr ModelVariant kExpertProcesses = {
    .experts = 8, .top_k = 3, .shared = true, .balanced = true};
constexpr ModelVariant kMuonExpertProcesses = {.experts = 8, .balanced = true, .muon = true};
constexpr ModelVariant kRouterLossProcesses = {
    .experts = 8, .balanced = true, .capacity = 1.25, .router_losses = true};
constexpr ModelVariant kGptProcesses = {
    .ffn = planner::FfnKind::kGelu, .norm = planner::StreamNorm::kLayer, .biases = true};

constexpr ModelVariant kGptOssProcesses = {
    .balanced = true, .config = kToyGptOss, .config_name = "gpt_oss"};

}  // namespace

std::vector<ProcessCase> ExactProcessCases() {
  return {
      {planner::Precision::kFp32, {"tp1.pp1.dp1.mb2"}},
      {planner::Precision::kFp64, {"tp1.pp1.dp1.mb2"}},
      {planner::Precision::kFp64, {"tp2.pp2.dp2", kTiedProcesses}},
      {planner::Precision::kFp32, {"tp2.cp2.pp2.dp1.sp1", kTiedProcesses}},
      {planner::Precision::kFp32, {"tp1.cp4.pp1.dp1"}},
      {planner::Precision::kFp32, {"tp2.pp1.dp2.zero1.sp1"}},
      {planner::Precision::kFp32, {"tp1.pp2.dp2.zero2.sched=zb_h1"}},
      {planner::Precision::kFp64, {"tp1.pp1.dp2.zero3"}},
      {planner::Precision::kFp32, {"tp1.cp2.pp1.dp2.zero3.rc=full"}},
      {planner::Precision::kFp32, {"tp1.pp2.dp2.vpp2.zero3.sched=breadth_first", kTiedProcesses}},
      {planner::Precision::kFp32, {"tp1.pp1.dp4.zero1.hs=2"}},
      {planner::Precision::kFp64, {"tp1.pp2.dp4.zero2.hs=2", kTiedProcesses}},
      {planner::Precision::kFp32, {"tp1.cp2.pp1.dp2.zero3.hs=2"}},
      {planner::Precision::kFp32, {"tp1.pp2.dp1.vpp2.sched=interleaved"}},
      {planner::Precision::kFp64, {"tp1.pp4.dp1.stages=1+2+1+0"}},
      {planner::Precision::kFp64, {"tp1.pp2.dp1.vpp2.rc=selective.sched=zb_v"}},
      {planner::Precision::kFp32, {"tp1.pp4.dp1.mb2.sched=gpipe"}},
      {planner::Precision::kFp32, {"tp2.pp2.dp1.rc=block:1"}},
      {planner::Precision::kFp64, {"tp2.pp2.dp1.sched=zb_h1", kQkNormProcesses}},
      {planner::Precision::kFp64, {"tp1.pp1.dp4.ep2.etp2", kExpertProcesses}},
      {planner::Precision::kFp32, {"tp2.pp2.dp2.ep4.zero1.sp1", kExpertProcesses}},
      {planner::Precision::kFp32, {"tp1.pp2.dp4.ep2.zero3.sched=zb_h1", kExpertProcesses}},
      {planner::Precision::kFp64, {"tp1.pp2.dp2.ep2.rc=layernorm+moe_act", kExpertProcesses}},
      {planner::Precision::kFp64,
       {"tp1.pp2.dp2.ep2.zero1.rc=mlp+moe.sched=zb_h1", kExpertProcesses}},
      {planner::Precision::kFp64, {"tp1.cp4.pp1.dp1", {.window = 3}}},
      {planner::Precision::kFp64, {"tp1.cp4.pp1.dp1", {.window = 5, .chunked = true}}},
      {planner::Precision::kFp64, {"tp2.pp1.dp2.ep2.zero1.sp1", kRouterLossProcesses}},
      {planner::Precision::kFp32, {"tp2.pp2.dp2.zero2.sp1", {.muon = true}}},
      {planner::Precision::kFp64, {"tp2.pp1.dp2.ep2.zero1.sp1", kMuonExpertProcesses}},
      {planner::Precision::kFp64, {"tp2.cp2.pp1.dp1.sp1", {.latent = true}}},
      {planner::Precision::kFp64, {"tp2.cp2.pp1.dp1.ep2.etp2.zero1.sp1", kGptOssProcesses}},
      {planner::Precision::kFp32, {"tp2.pp1.dp1.mb2.sp1", kGptProcesses}},
      {planner::Precision::kFp64, {"tp1.pp2.dp2.zero2", kGptProcesses}},
      {planner::Precision::kFp32,
       {"tp1.pp1.dp2.zero3", {.norm = planner::StreamNorm::kLayerPlain}}}};
}

std::vector<ProcessCase> Bf16ProcessCases() {
  return {{planner::Precision::kBf16, {"tp1.pp1.dp1.mb2"}},
          {planner::Precision::kBf16, {"tp2.pp2.dp1.sp1"}},
          {planner::Precision::kBf16, {"tp1.cp2.pp1.dp2.zero1"}},
          {planner::Precision::kBf16, {"tp1.pp2.dp2.zero3.sched=zb_h1"}}};
}

}  // namespace meshwright::trial

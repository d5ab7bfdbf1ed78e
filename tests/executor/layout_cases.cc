#include "tests/executor/layout_cases.h"

namespace meshwright::trial {
namespace {

constexpr ModelVariant kTied = {.tied = true};
constexpr ModelVariant kMultiHead = {.kv_heads = 4};
constexpr ModelVariant kEightLayers = {.layers = 8};
constexpr ModelVariant kBias = {.qkv_bias = true};
constexpr ModelVariant kOdd = {.qkv_bias = true, .odd = true};
constexpr ModelVariant kOddTied = {.tied = true, .odd = true};
constexpr ModelVariant kHeadNorm = {.qk_norm = true};
constexpr ModelVariant kHeadNormMultiHead = {.kv_heads = 4, .qk_norm = true};
constexpr ModelVariant kGelu = {.ffn = planner::FfnKind::kGelu};
constexpr ModelVariant kRelu = {.ffn = planner::FfnKind::kRelu};
constexpr ModelVariant kLayerNorm = {.ffn = planner::FfnKind::kGelu,
                                     .norm = planner::StreamNorm::kLayer};
// Blocks like StarCoder 2's, and with everything that may have a bias.
constexpr ModelVariant kBlocksOfGpt = {
    .ffn = planner::FfnKind::kGelu, .norm = planner::StreamNorm::kLayer, .biases = true};
constexpr ModelVariant kOddBlocksOfGpt = {.tied = true,
                                          .odd = true,
                                          .ffn = planner::FfnKind::kGelu,
                                          .norm = planner::StreamNorm::kLayer,
                                          .biases = true};
// Blocks like OLMo's and StableLM's, and such as no position reaches.
constexpr ModelVariant kPlainNorm = {.norm = planner::StreamNorm::kLayerPlain};
constexpr ModelVariant kPlainNormTied = {.tied = true, .norm = planner::StreamNorm::kLayerPlain};
constexpr ModelVariant kPartialRotary = {.norm = planner::StreamNorm::kLayer, .rotary_share = 0.25};
constexpr ModelVariant kPartialRotaryHeadNorm = {.qk_norm = true, .rotary_share = 0.5};
constexpr ModelVariant kNoPositions = {.kv_heads = 4, .positions = false};
constexpr ModelVariant kBiases = {.biases = true};
constexpr ModelVariant kWeightedNorm = {.norm = planner::StreamNorm::kLayerWithoutBias};

std::vector<LayoutCase> OfEveryZeroStage(const std::vector<LayoutCase>& layouts) {
  std::vector<LayoutCase> cases;
  for (const char* stage : {".zero1", ".zero2", ".zero3"}) {
    for (const LayoutCase& one : layouts) {
      cases.push_back({one.layout + stage, one.model, one.global_batch});
    }
  }
  return cases;
}

}  // namespace

std::vector<LayoutCase> AxisCases() {
  return {{"tp1.pp1.dp1.mb2"},
          {"tp1.pp1.dp1.mb2", kBias},
          {"tp2.pp1.dp1.mb2"},
          {"tp4.pp1.dp1", kMultiHead},
          {"tp2.pp1.dp1.mb2.sp1"},
          {"tp4.pp1.dp1.sp1", kMultiHead},
          {"tp1.cp2.pp1.dp1"},
          {"tp1.cp2.pp1.dp1.mb2"},
          {"tp1.cp2.pp1.dp1", kMultiHead},
          {"tp1.cp4.pp1.dp1"},
          {"tp1.cp8.pp1.dp1"},
          {"tp1.pp2.dp1"},
          {"tp1.pp3.dp1"},
          {"tp1.pp4.dp1"},
          {"tp1.pp1.dp2.mb2"},
          {"tp1.pp1.dp4"}};
}

std::vector<LayoutCase> PairCases() {
  return {{"tp2.cp2.pp1.dp1"},         {"tp2.cp2.pp1.dp1.sp1"},
          {"tp2.cp4.pp1.dp1.mb2.sp1"}, {"tp2.pp2.dp1"},
          {"tp2.pp2.dp1", kTied},      {"tp2.pp2.dp1.sp1"},
          {"tp2.pp2.dp1.sp1", kTied},  {"tp2.pp1.dp2"},
          {"tp2.pp1.dp2.sp1", kBias},  {"tp1.cp2.pp2.dp1"},
          {"tp1.cp4.pp2.dp1", kTied},  {"tp1.cp2.pp1.dp2"},
          {"tp1.pp2.dp2", kTied}};
}

std::vector<LayoutCase> ScheduleCases() {
  return {{"tp1.pp2.dp1.sched=gpipe"},
          {"tp1.pp4.dp1.mb2.sched=gpipe"},
          {"tp2.pp2.dp1.sp1.sched=gpipe"},
          {"tp1.cp2.pp2.dp1.sched=gpipe"},
          {"tp1.pp2.dp1.vpp2.sched=interleaved"},
          {"tp1.pp2.dp1.vpp2.sched=interleaved", kMultiHead},
          {"tp1.pp4.dp1.vpp2.sched=interleaved", kEightLayers},
          {"tp2.pp2.dp1.vpp2.sp1.sched=interleaved"},
          {"tp1.cp2.pp2.dp1.vpp2.sched=interleaved"},
          {"tp1.pp2.dp2.vpp2.sched=interleaved"},
          {"tp1.pp2.dp1.vpp3.sched=interleaved", {.tied = true, .layers = 10}},
          {"tp1.pp1.dp1.vpp4.sched=breadth_first"},
          {"tp1.pp1.dp1.mb2.vpp2.sched=breadth_first", kTied},
          {"tp1.pp2.dp1.vpp2.sched=breadth_first"},
          {"tp1.pp4.dp1.vpp2.sched=breadth_first", kEightLayers},
          {"tp2.pp2.dp1.vpp2.sp1.sched=breadth_first"},
          {"tp1.cp2.pp2.dp1.vpp2.sched=breadth_first"},
          {"tp1.pp2.dp2.vpp2.sched=breadth_first", kTied},
          {"tp1.pp1.dp1.mb2.sched=zb_h1"},
          {"tp1.pp2.dp1.sched=zb_h1"},
          {"tp1.pp2.dp1.sched=zb_h1", kMultiHead},
          {"tp1.pp4.dp1.sched=zb_h1"},
          {"tp2.pp2.dp1.sched=zb_h1"},
          {"tp2.pp2.dp1.sp1.sched=zb_h1"},
          {"tp1.cp2.pp2.dp1.sched=zb_h1"},
          {"tp1.pp2.dp2.sched=zb_h1", kTied},
          {"tp1.pp1.dp1.mb2.vpp2.sched=zb_v"},
          {"tp1.pp2.dp1.vpp2.sched=zb_v"},
          {"tp1.pp4.dp1.vpp2.sched=zb_v", kEightLayers},
          {"tp2.pp2.dp1.vpp2.sp1.sched=zb_v"},
          {"tp1.cp2.pp2.dp1.vpp2.sched=zb_v"},
          {"tp1.pp2.dp2.vpp2.sched=zb_v", kTied}};
}

// 4 layers on 6 stages: the first holds the embedding alone, the last the final norm and the head.
// Every rank has a layer beside them: what a rank with the embedding alone keeps of so small a
// model is less than the sums that the gradients' norm takes, which the prediction leaves out.
std::vector<LayoutCase> EndStageCases() {
  return {{"tp1.pp3.dp1.vpp2.sched=interleaved", {}, 6},
          {"tp1.pp3.dp1.vpp2.sched=interleaved", kTied, 6},
          {"tp1.pp3.dp1.vpp2.rc=full.sched=interleaved", {}, 6},
          {"tp1.pp2.dp1.vpp3.sched=interleaved"},
          {"tp1.pp3.dp1.vpp2.sched=breadth_first", {}, 6},
          {"tp1.pp2.dp2.vpp3.zero3.sched=breadth_first"},
          {"tp1.pp1.dp1.vpp6.sched=breadth_first"},
          {"tp1.pp3.dp1.vpp2.sched=zb_v", {}, 6},
          {"tp1.pp3.dp1.vpp2.sched=zb_v", kTied, 6},
          {"tp1.pp6.dp1"},
          {"tp1.pp6.dp1", kTied},
          {"tp1.pp6.dp1.sched=gpipe"},
          {"tp1.pp6.dp1.sched=zb_h1"},
          {"tp2.pp6.dp1.sp1"},
          {"tp1.pp4.dp1.sched=gpipe.stages=0+3+1+0"},
          {"tp1.pp2.dp2.zero1.rc=selective.stages=4+0"}};
}

std::vector<LayoutCase> RecomputeCases() {
  return {{"tp1.pp1.dp1.mb2.rc=selective"},
          {"tp2.pp2.dp1.sp1.rc=selective"},
          {"tp1.cp2.pp2.dp1.rc=selective"},
          {"tp1.pp2.dp1.rc=selective.sched=zb_h1"},
          {"tp2.pp2.dp1.vpp2.sp1.rc=selective.sched=zb_v"},
          {"tp1.pp2.dp1.rc=selective.sched=gpipe"},
          {"tp1.pp1.dp1.mb2.rc=full"},
          {"tp2.pp2.dp1.sp1.rc=full"},
          {"tp1.cp4.pp1.dp1.mb2.rc=full", kMultiHead},
          {"tp1.pp2.dp2.rc=full"},
          {"tp1.pp2.dp1.rc=full.sched=zb_h1"},
          {"tp2.pp2.dp1.vpp2.sp1.rc=full.sched=zb_v"},
          {"tp1.pp2.dp1.vpp2.rc=full.sched=interleaved"},
          {"tp2.pp2.dp1.vpp2.rc=full.sched=breadth_first"},
          {"tp1.pp1.dp1.rc=block:3"},
          {"tp1.pp2.dp1.rc=block:1"},
          {"tp1.cp2.pp1.dp1.rc=block:2"},
          {"tp1.pp2.dp1.vpp2.rc=block:1.sched=zb_v"}};
}

// Of every ZeRO stage: each axis beside the data parallel one, each schedule and recompute mode,
// tied embeddings on one rank and on two, parameters that shards don't divide.
std::vector<LayoutCase> ZeroCases() {
  const std::vector<LayoutCase> layouts = {{"tp1.pp1.dp2.mb2"},
                                           {"tp1.pp1.dp4"},
                                           {"tp1.pp1.dp2", kTied},
                                           {"tp1.pp1.dp4", kOdd},
                                           {"tp1.cp2.pp1.dp1"},
                                           {"tp1.cp2.pp1.dp2.mb2"},
                                           {"tp2.pp1.dp2"},
                                           {"tp2.pp1.dp2", kTied},
                                           {"tp2.pp1.dp2.sp1", kBias},
                                           {"tp1.pp2.dp2"},
                                           {"tp1.pp2.dp2", kTied},
                                           {"tp1.pp2.dp2", kOddTied},
                                           {"tp1.pp3.dp2"},
                                           {"tp1.pp1.dp2.mb2.rc=selective"},
                                           {"tp1.pp1.dp2.mb2.rc=full"},
                                           {"tp2.pp1.dp2.sp1.rc=full"},
                                           {"tp1.pp2.dp2.rc=block:1"},
                                           {"tp1.pp1.dp2.sched=gpipe"},
                                           {"tp1.pp2.dp2.mb2.sched=gpipe"},
                                           {"tp1.pp2.dp2.vpp2.sched=interleaved"},
                                           {"tp1.pp1.dp2.sched=breadth_first"},
                                           {"tp1.pp1.dp2.vpp4.sched=breadth_first"},
                                           {"tp1.pp1.dp2.vpp2.sched=breadth_first", kTied},
                                           {"tp1.pp2.dp2.vpp2.sched=breadth_first"},
                                           {"tp1.pp2.dp2.vpp2.rc=full.sched=breadth_first", kTied},
                                           {"tp1.pp1.dp2.sched=zb_h1"},
                                           {"tp1.pp2.dp2.sched=zb_h1", kOdd},
                                           {"tp1.pp2.dp2.rc=full.sched=zb_h1"},
                                           {"tp1.pp2.dp2.vpp2.sched=zb_v", kTied},
                                           {"tp2.pp2.dp2.vpp2.sp1.rc=selective.sched=zb_v"},
                                           {"tp2.cp2.pp2.dp2.sp1"}};
  return OfEveryZeroStage(layouts);
}

// Of every ZeRO stage: groups that are a part of dp, all of cp, and parts of both, each axis beside
// them, each schedule, tied embeddings on one rank and on two, parameters that shards don't divide,
// units without any, and a group of all ranks.
std::vector<LayoutCase> HsdpCases() {
  return OfEveryZeroStage({{"tp1.pp1.dp4.hs=2"},
                           {"tp1.pp1.dp4.hs=2", kOddTied},
                           {"tp1.pp1.dp4.hs=2", kPlainNorm},
                           {"tp1.pp1.dp4.mb3.hs=2", {}, 24},
                           {"tp1.pp1.dp4.hs=4"},
                           {"tp1.pp1.dp8.hs=2"},
                           {"tp1.pp1.dp8.hs=4"},
                           {"tp1.cp2.pp1.dp2.hs=2"},
                           {"tp1.cp2.pp1.dp2.hs=4"},
                           {"tp1.cp2.pp1.dp4.hs=4"},
                           {"tp2.pp1.dp4.sp1.hs=2", kBias},
                           {"tp1.pp2.dp4.hs=2", kTied},
                           {"tp1.pp1.dp4.rc=full.hs=2"},
                           {"tp1.pp2.dp4.vpp2.sched=interleaved.hs=2"},
                           {"tp1.pp1.dp4.vpp4.sched=breadth_first.hs=2"},
                           {"tp1.pp2.dp4.vpp2.sched=breadth_first.hs=2", kTied},
                           {"tp1.pp2.dp4.rc=full.sched=zb_h1.hs=2", kOdd},
                           {"tp1.pp2.dp4.vpp2.sched=zb_v.hs=2", kTied, 16},
                           {"tp2.cp2.pp2.dp2.sp1.hs=2"}});
}

// Each schedule with stages that differ: by more than a layer, in the middle, and chunks at the
// ends without layers.
std::vector<LayoutCase> NamedStageCases() {
  return {{"tp1.pp2.dp1.stages=1+3"},
          {"tp1.pp2.dp1.stages=3+1", kTied},
          {"tp1.pp4.dp1.sched=gpipe.stages=0+2+1+1"},
          {"tp1.pp2.dp2.zero1.rc=selective.stages=3+1"},
          {"tp2.pp2.dp1.vpp2.sp1.sched=interleaved.stages=1+2+1+0"},
          {"tp1.pp2.dp2.vpp2.zero3.rc=full.sched=breadth_first.stages=0+1+3+0", kTied},
          {"tp1.pp1.dp1.vpp3.sched=breadth_first.stages=1+2+1"},
          {"tp1.pp2.dp1.rc=block:2.stages=3+1"},
          {"tp1.pp3.dp1.sched=zb_h1.stages=1+2+1", {}, 6},
          {"tp1.pp2.dp1.vpp2.sched=zb_v.stages=0+1+1+2", kTied},
          {"tp1.pp2.dp4.zero2.hs=2.stages=3+1"}};
}

std::vector<LayoutCase> AllAxesCases() {
  return {{"tp2.pp2.dp2"},
          {"tp2.cp2.pp2.dp1.sp1"},
          {"tp2.cp2.pp2.dp1.sp1", kTied},
          {"tp2.cp2.pp1.dp2.sp1"},
          {"tp1.cp2.pp2.dp2.rc=full", kTied},
          {"tp2.cp2.pp2.dp2"},
          {"tp2.cp2.pp2.dp2.sp1", kTied},
          {"tp2.cp2.pp2.dp2.sp1.rc=selective.sched=gpipe"},
          {"tp2.cp2.pp2.dp2.vpp2.sp1.sched=interleaved", kBias},
          {"tp2.cp2.pp2.dp2.vpp2.sp1.rc=full.sched=breadth_first"},
          {"tp2.cp2.pp2.dp2.sp1.sched=zb_h1", kMultiHead},
          {"tp2.cp2.pp2.dp2.vpp2.sp1.rc=block:1.sched=zb_v", kTied}};
}

std::vector<LayoutCase> HeadNormCases() {
  return {{"tp1.pp1.dp1.mb2", kHeadNorm},
          {"tp1.pp1.dp1.mb2", kHeadNormMultiHead},
          {"tp1.pp1.dp1", {.qkv_bias = true, .qk_norm = true}},
          {"tp1.pp1.dp2.zero3", {.tied = true, .qk_norm = true, .odd = true}},
          {"tp2.pp1.dp1.mb2", kHeadNorm},
          {"tp2.pp1.dp1.mb2.sp1", kHeadNorm},
          {"tp4.pp1.dp1.sp1", kHeadNormMultiHead},
          {"tp1.cp2.pp1.dp1", kHeadNorm},
          {"tp1.cp4.pp1.dp1.mb2", kHeadNormMultiHead},
          {"tp2.cp2.pp1.dp1.sp1", kHeadNorm},
          {"tp1.pp2.dp1.vpp2.sched=interleaved", kHeadNorm},
          {"tp1.pp1.dp1.vpp4.sched=breadth_first", kHeadNorm},
          {"tp1.pp2.dp1.sched=zb_h1", kHeadNorm},
          {"tp2.pp2.dp1.vpp2.sp1.sched=zb_v", kHeadNorm},
          {"tp1.pp1.dp1.mb2.rc=selective", kHeadNorm},
          {"tp2.pp2.dp1.sp1.rc=selective", kHeadNorm},
          {"tp1.pp1.dp1.mb2.rc=full", kHeadNorm},
          {"tp1.cp2.pp2.dp1.rc=full.sched=zb_h1", kHeadNorm},
          {"tp1.pp2.dp1.rc=block:1", kHeadNorm},
          {"tp2.pp1.dp2.zero1", kHeadNorm},
          {"tp2.pp1.dp2.zero2.sched=zb_h1", kHeadNorm},
          {"tp1.pp1.dp4.zero3", kHeadNorm},
          {"tp2.pp2.dp2.zero3.sp1.rc=full", kHeadNorm},
          {"tp2.cp2.pp2.dp2.zero3.sp1", kHeadNorm}};
}

std::vector<LayoutCase> OtherFamilyCases() {
  return {{"tp1.pp1.dp1.mb2", kGelu},
          {"tp1.pp1.dp1.mb2", kRelu},
          {"tp2.pp1.dp1.mb2", kGelu},
          {"tp2.pp1.dp1.mb2.sp1", kGelu},
          {"tp2.pp1.dp1.mb2.sp1", kRelu},
          {"tp1.cp2.pp1.dp1", kGelu},
          {"tp1.pp2.dp1", kGelu},
          {"tp1.pp2.dp1.sched=zb_h1", kGelu},
          {"tp2.pp2.dp1.sp1.sched=zb_h1", kRelu},
          {"tp1.pp1.dp1.mb2.rc=selective", kGelu},
          {"tp2.pp2.dp1.sp1.rc=selective", kRelu},
          {"tp1.pp2.dp1.rc=selective.sched=zb_h1", kRelu},
          {"tp1.pp1.dp1.mb2.rc=full", kGelu},
          {"tp1.cp2.pp2.dp1.rc=full.sched=zb_h1", kRelu},
          {"tp1.pp1.dp2.zero1", kGelu},
          {"tp2.pp1.dp2.zero2.sp1", kGelu},
          {"tp1.pp1.dp2.zero3", kRelu},
          {"tp2.pp2.dp2.vpp2.zero3.sp1.rc=selective.sched=breadth_first", kGelu},
          {"tp1.pp1.dp1.mb2", kLayerNorm},
          {"tp1.pp1.dp1.mb2", kWeightedNorm},
          {"tp2.pp1.dp1.mb2", kLayerNorm},
          {"tp2.pp1.dp1.mb2.sp1", kLayerNorm},
          {"tp1.cp2.pp1.dp1", kWeightedNorm},
          {"tp1.pp2.dp1.sched=zb_h1", kLayerNorm},
          {"tp2.pp2.dp1.sp1.rc=selective", kLayerNorm},
          {"tp1.pp1.dp1.mb2.rc=full", kWeightedNorm},
          {"tp2.pp1.dp2.zero1.sp1", kLayerNorm},
          {"tp1.pp2.dp2.zero2", kLayerNorm},
          {"tp1.pp1.dp2.zero3", kLayerNorm},
          {"tp1.pp1.dp1.mb2", kBlocksOfGpt},
          {"tp1.pp1.dp1.mb2", kBiases},
          {"tp2.pp1.dp1.mb2", kBlocksOfGpt},
          {"tp2.pp1.dp1.mb2.sp1", kBlocksOfGpt},
          {"tp2.pp1.dp1.sp1", kBiases},
          {"tp1.cp2.pp1.dp1", kBlocksOfGpt},
          {"tp2.cp2.pp1.dp1.sp1", kBlocksOfGpt},
          {"tp1.pp2.dp1", kBlocksOfGpt},
          {"tp1.pp2.dp1.sched=zb_h1", kBlocksOfGpt},
          {"tp2.pp2.dp1.vpp2.sp1.sched=zb_v", kBlocksOfGpt},
          {"tp1.pp1.dp1.mb2.rc=selective", kBlocksOfGpt},
          {"tp2.pp2.dp1.sp1.rc=full", kBlocksOfGpt},
          {"tp1.pp2.dp1.rc=block:1", kBlocksOfGpt},
          {"tp1.pp1.dp2.zero1", kOddBlocksOfGpt},
          {"tp2.pp1.dp2.zero2.sp1", kBlocksOfGpt},
          {"tp1.pp1.dp2.zero3", kOddBlocksOfGpt},
          {"tp2.pp2.dp2.zero3.sp1.rc=full", kBlocksOfGpt},
          {"tp1.pp2.dp2.vpp2.zero3.sched=breadth_first", kBlocksOfGpt},
          {"tp1.pp1.dp1.mb2", kPlainNorm},
          {"tp2.pp2.dp1.sp1.rc=selective", kPlainNorm},
          {"tp1.pp1.dp2", kPlainNormTied},
          {"tp1.pp2.dp2.zero1", kPlainNorm},
          {"tp1.pp1.dp2.zero2", kPlainNormTied},
          {"tp1.pp2.dp2.zero2.sched=zb_h1", kPlainNorm},
          {"tp1.pp1.dp2.zero3", kPlainNorm},
          {"tp1.pp1.dp2.vpp2.zero3.sched=breadth_first", kPlainNormTied},
          {"tp1.pp1.dp1.mb2", kPartialRotary},
          {"tp2.cp2.pp1.dp1.sp1", kPartialRotary},
          {"tp1.pp2.dp1.rc=full.sched=zb_h1", kPartialRotary},
          {"tp1.pp1.dp1.mb2", kPartialRotaryHeadNorm},
          {"tp1.cp2.pp1.dp1", kPartialRotaryHeadNorm},
          {"tp1.pp1.dp1.mb2", kNoPositions},
          {"tp2.cp2.pp1.dp1", kNoPositions}};
}

// Matrices that are divided by rows, by columns and not at all, by few and many shards, and under
// every schedule.
std::vector<LayoutCase> MuonCases() {
  constexpr ModelVariant kMuon = {.muon = true};
  constexpr ModelVariant kOddMuon = {.qkv_bias = true, .odd = true, .muon = true};
  constexpr ModelVariant kTiedMuon = {.tied = true, .muon = true};
  constexpr ModelVariant kLatentMuon = {.latent = true, .muon = true};
  constexpr ModelVariant kOddTiedMuon = {.tied = true, .odd = true, .muon = true};
  constexpr ModelVariant kGptMuon = {.ffn = planner::FfnKind::kGelu,
                                     .norm = planner::StreamNorm::kLayer,
                                     .biases = true,
                                     .muon = true};
  return {{"tp1.pp1.dp1.mb2", kMuon},
          {"tp1.pp1.dp1", kLatentMuon},
          {"tp2.pp1.dp1.sp1", kMuon},
          {"tp4.pp1.dp1", {.kv_heads = 4, .muon = true}},
          {"tp2.pp1.dp1.sp1", kLatentMuon},
          {"tp1.cp2.pp1.dp1", kMuon},
          {"tp1.pp1.dp2", kMuon},
          {"tp1.pp2.dp1", kTiedMuon},
          {"tp2.pp2.dp2", kGptMuon},
          {"tp1.pp1.dp2.zero1", kMuon},
          {"tp1.pp1.dp4.zero1", kOddMuon},
          {"tp1.pp1.dp8.zero1", kMuon},
          {"tp2.pp1.dp2.zero1.sp1", kMuon},
          {"tp2.pp1.dp2.zero1.sp1", kLatentMuon},
          {"tp1.cp2.pp1.dp2.zero1", kMuon},
          {"tp1.pp2.dp2.vpp2.zero1.sched=interleaved", kMuon},
          {"tp1.pp2.dp2.zero1.sched=zb_h1", kTiedMuon},
          {"tp1.pp1.dp2.zero2", kOddTiedMuon},
          {"tp1.pp1.dp4.zero2", kMuon},
          {"tp2.pp1.dp2.zero2", kGptMuon},
          {"tp1.pp2.dp2.vpp2.zero2.sched=zb_v", kTiedMuon},
          {"tp1.pp1.dp2.zero3", kMuon},
          {"tp1.pp1.dp4.zero3", kOddMuon},
          {"tp1.cp2.pp1.dp1.zero3", kLatentMuon},
          {"tp2.pp2.dp2.zero3.sp1.rc=full", kMuon},
          {"tp1.pp2.dp2.vpp2.zero3.sched=breadth_first", kTiedMuon},
          {"tp1.pp2.dp2.zero3.rc=full.sched=zb_h1", kOddMuon},
          {"tp1.pp1.dp4.zero1.hs=2", kMuon},
          {"tp2.pp1.dp4.zero2.sp1.hs=2", kMuon},
          {"tp1.pp1.dp4.zero3.hs=2", kOddTiedMuon},
          {"tp2.cp2.pp2.dp2.zero3.sp1", kMuon}};
}

std::vector<LayoutCase> AllCases() {
  std::vector<LayoutCase> all;
  for (const auto& cases :
       {AxisCases(), PairCases(), ScheduleCases(), RecomputeCases(), ZeroCases(), HsdpCases(),
        NamedStageCases(), AllAxesCases(), HeadNormCases(), OtherFamilyCases(), WindowCases(),
        LatentCases(), SinkCases(), MuonCases()}) {
    all.insert(all.end(), cases.begin(), cases.end());
  }
  return all;
}

std::vector<LayoutCase> OffloadCases() {
  return {{"tp1.pp1.dp1.mb2.offload=act:4"},
          {"tp1.pp1.dp1.mb2.offload=act:1"},
          {"tp2.pp1.dp1.sp1.offload=act:3", {.tied = true}},
          {"tp2.pp1.dp1.offload=act:2", {.qkv_bias = true, .qk_norm = true}},
          {"tp1.cp2.pp1.dp1.offload=act:2"},
          {"tp1.pp1.dp2.zero2.offload=act:2", {.odd = true}},
          {"tp1.pp1.dp2.zero3.offload=act:3"},
          {"tp1.pp1.dp1.mb2.rc=selective.offload=act:2"},
          {"tp1.pp2.dp1.offload=act:1"},
          {"tp1.pp2.dp2.zero1.sched=gpipe.offload=act:2"},
          {"tp1.pp2.dp1.vpp2.sched=interleaved.offload=act:1"},
          {"tp1.pp2.dp2.vpp2.zero3.sched=breadth_first.offload=act:1"},
          {"tp1.pp2.dp1.sched=zb_h1.offload=act:1", {.tied = true}},
          {"tp1.pp2.dp1.vpp2.sched=zb_v.offload=act:1"},
          {"tp1.pp1.dp1.offload=opt"},
          {"tp2.pp1.dp2.zero1.sp1.offload=opt", {.tied = true}},
          {"tp1.pp1.dp2.zero2.offload=opt", {.odd = true}},
          {"tp1.pp2.dp2.zero3.offload=opt"},
          {"tp1.pp1.dp4.zero1.hs=2.offload=opt"},
          {"tp1.pp1.dp1.mb2.offload=act:3+opt"},
          {"tp2.pp2.dp1.sp1.offload=act:2+opt"},
          {"tp1.pp2.dp2.vpp2.zero1.sched=interleaved.offload=act:1+opt"},
          {"tp1.pp2.dp2.zero2.sched=zb_h1.offload=act:1+opt"}};
}

}  // namespace meshwright::trial

// Layouts of models whose attention is not that of all tokens before a query.
#include "tests/executor/layout_cases.h"

namespace meshwright::trial {
namespace {

// Of 16 tokens: within a piece of the sequence, a little more, and over several.
constexpr ModelVariant kShort = {.window = 3};
constexpr ModelVariant kMiddle = {.window = 6};
constexpr ModelVariant kLong = {.window = 13};
constexpr ModelVariant kAttentionMultiHead = {.kv_heads = 4, .window = 5};
// Chunks that pieces are made up of, that are made up of pieces, and that are neither.
constexpr ModelVariant kChunk = {.window = 4, .chunked = true};
constexpr ModelVariant kLongChunk = {.window = 8, .chunked = true};
constexpr ModelVariant kOddChunk = {.window = 5, .chunked = true};
constexpr ModelVariant kLatentChunk = {.window = 6, .chunked = true, .latent = true};
constexpr ModelVariant kAttentionTied = {.tied = true, .window = 6};
constexpr ModelVariant kAttentionHeadNorm = {.qk_norm = true, .window = 6};

constexpr ModelVariant kAttentionLatent = {.latent = true};
constexpr ModelVariant kLatentTied = {.tied = true, .latent = true};
constexpr ModelVariant kLatentGpt = {
    .ffn = planner::FfnKind::kGelu, .norm = planner::StreamNorm::kLayer, .latent = true};
constexpr ModelVariant kEvenLatent = {.latent = true, .value_dim = 12};
constexpr ModelVariant kOddLatent = {.odd = true, .latent = true};
constexpr ModelVariant kLatentWindow = {.window = 6, .latent = true};

constexpr ModelVariant kSinks = {.sinks = true};
constexpr ModelVariant kSinksOfSingles = {.kv_heads = 4, .qkv_bias = true, .sinks = true};
constexpr ModelVariant kSinksInWindows = {.window = 6, .sinks = true};
constexpr ModelVariant kSinksMuon = {.muon = true, .sinks = true};

}  // namespace

std::vector<LayoutCase> WindowCases() {
  return {{"tp1.pp1.dp1.mb2", kMiddle},
          {"tp1.pp1.dp1", kAttentionMultiHead},
          {"tp2.pp1.dp1.mb2", kMiddle},
          {"tp2.pp1.dp1.mb2.sp1", kMiddle},
          {"tp2.pp1.dp1.sp1", kAttentionHeadNorm},
          {"tp1.cp2.pp1.dp1", kShort},
          {"tp1.cp2.pp1.dp1.mb2", kMiddle},
          {"tp1.cp4.pp1.dp1.mb2", kShort},
          {"tp1.cp4.pp1.dp1", kAttentionMultiHead},
          {"tp1.cp4.pp1.dp1", kLong},
          {"tp1.cp8.pp1.dp1", kShort},
          {"tp1.cp8.pp1.dp1", kMiddle},
          {"tp2.cp4.pp1.dp1.sp1", kMiddle},
          {"tp1.pp2.dp1", kMiddle},
          {"tp1.pp2.dp1", kAttentionTied},
          {"tp1.pp2.dp1.sched=zb_h1", kMiddle},
          {"tp1.pp2.dp1.vpp2.sched=interleaved", kMiddle},
          {"tp2.pp2.dp1.vpp2.sp1.sched=zb_v", kMiddle},
          {"tp1.cp2.pp2.dp1.vpp2.sched=breadth_first", kMiddle},
          {"tp1.pp1.dp1.mb2.rc=selective", kMiddle},
          {"tp1.cp2.pp2.dp1.rc=full.sched=zb_h1", kMiddle},
          {"tp1.pp2.dp1.rc=block:1", kMiddle},
          {"tp1.cp2.pp1.dp2.zero1", kMiddle},
          {"tp2.pp1.dp2.zero2.sp1", kMiddle},
          {"tp1.pp1.dp4.zero3.hs=2", kAttentionTied},
          {"tp2.cp2.pp2.dp2.zero3.sp1", kMiddle},
          {"tp1.pp1.dp1.mb2", kChunk},
          {"tp1.pp1.dp1.mb2", kOddChunk},
          {"tp2.pp1.dp1.mb2.sp1", kLongChunk},
          {"tp1.cp2.pp1.dp1.mb2", kChunk},
          {"tp1.cp2.pp1.dp1", kLongChunk},
          {"tp1.cp2.pp1.dp1", kOddChunk},
          {"tp1.cp4.pp1.dp1", kChunk},
          {"tp1.cp4.pp1.dp1.mb2", kOddChunk},
          {"tp1.cp8.pp1.dp1", kOddChunk},
          {"tp2.cp2.pp1.dp1.sp1", kLatentChunk},
          {"tp1.cp2.pp2.dp1.sched=zb_h1", kOddChunk},
          {"tp1.cp2.pp1.dp2.zero2", kLongChunk}};
}

std::vector<LayoutCase> LatentCases() {
  return {{"tp1.pp1.dp1.mb2", kAttentionLatent},
          {"tp1.pp1.dp1.mb2", kEvenLatent},
          {"tp1.pp1.dp1", kLatentGpt},
          {"tp2.pp1.dp1.mb2", kAttentionLatent},
          {"tp4.pp1.dp1", kAttentionLatent},
          {"tp2.pp1.dp1.mb2.sp1", kAttentionLatent},
          {"tp4.pp1.dp1.sp1", kEvenLatent},
          {"tp1.cp2.pp1.dp1", kAttentionLatent},
          {"tp1.cp4.pp1.dp1.mb2", kAttentionLatent},
          {"tp1.cp2.pp1.dp1", kEvenLatent},
          {"tp2.cp2.pp1.dp1.sp1", kAttentionLatent},
          {"tp1.cp4.pp1.dp1", kLatentWindow},
          {"tp2.pp1.dp1.sp1", kLatentWindow},
          {"tp1.pp2.dp1", kLatentTied},
          {"tp1.pp2.dp1.sched=gpipe", kAttentionLatent},
          {"tp1.pp2.dp1.vpp2.sched=interleaved", kAttentionLatent},
          {"tp1.pp1.dp1.vpp4.sched=breadth_first", kAttentionLatent},
          {"tp1.pp2.dp1.sched=zb_h1", kAttentionLatent},
          {"tp2.pp2.dp1.sp1.sched=zb_h1", kAttentionLatent},
          {"tp2.pp2.dp1.vpp2.sp1.sched=zb_v", kAttentionLatent},
          {"tp1.cp2.pp2.dp1.vpp2.sched=zb_v", kEvenLatent},
          {"tp1.pp1.dp1.mb2.rc=selective", kAttentionLatent},
          {"tp2.pp2.dp1.sp1.rc=selective.sched=zb_h1", kAttentionLatent},
          {"tp1.pp1.dp1.mb2.rc=full", kAttentionLatent},
          {"tp2.pp2.dp1.sp1.rc=full", kAttentionLatent},
          {"tp1.cp2.pp2.dp1.rc=full.sched=zb_h1", kAttentionLatent},
          {"tp1.pp2.dp1.rc=block:1", kAttentionLatent},
          {"tp2.pp1.dp2.zero1.sp1", kAttentionLatent},
          {"tp2.pp1.dp2.zero2.sp1", kAttentionLatent},
          {"tp2.pp1.dp2.zero3.sp1.rc=selective", kAttentionLatent},
          {"tp1.pp1.dp4.zero3", kOddLatent},
          {"tp1.pp1.dp4.zero2.hs=2", kLatentTied},
          {"tp2.pp2.dp2.vpp2.zero3.sp1.sched=breadth_first", kAttentionLatent},
          {"tp2.cp2.pp2.dp2.zero1.sp1", kLatentTied},
          {"tp2.cp2.pp2.dp2.vpp2.zero2.sp1.sched=zb_v", kAttentionLatent}};
}

// With windows and without them, of grouped and of single queries.
std::vector<LayoutCase> SinkCases() {
  return {{"tp1.pp1.dp1.mb2", kSinks},
          {"tp1.pp1.dp1.mb2", kSinksOfSingles},
          {"tp1.pp1.dp1.mb2", kSinksInWindows},
          {"tp2.pp1.dp1.mb2", kSinks},
          {"tp4.pp1.dp1.sp1", kSinksOfSingles},
          {"tp2.pp1.dp1.mb2.sp1", kSinksInWindows},
          {"tp1.cp2.pp1.dp1.mb2", kSinks},
          {"tp1.cp2.pp1.dp1", kSinksInWindows},
          {"tp1.cp4.pp1.dp1.mb2", kSinksInWindows},
          {"tp1.cp8.pp1.dp1", kSinks},
          {"tp2.cp2.pp1.dp1.sp1", kSinksInWindows},
          {"tp1.pp2.dp1.sched=gpipe", kSinks},
          {"tp1.pp2.dp1.vpp2.sched=interleaved", kSinksInWindows},
          {"tp1.cp2.pp1.dp1.vpp4.sched=breadth_first", kSinksInWindows},
          {"tp1.pp2.dp1.sched=zb_h1", kSinksInWindows},
          {"tp2.pp2.dp1.vpp2.sp1.sched=zb_v", kSinksInWindows},
          {"tp1.pp1.dp1.mb2.rc=selective", kSinks},
          {"tp1.cp2.pp2.dp1.rc=full.sched=zb_h1", kSinksInWindows},
          {"tp1.pp2.dp1.rc=block:1", kSinksInWindows},
          {"tp2.pp1.dp2.zero1.sp1", kSinks},
          {"tp2.pp1.dp2.zero2.sp1", kSinksInWindows},
          {"tp1.cp2.pp1.dp2.zero3", kSinks},
          {"tp1.pp1.dp4.zero3.hs=2", kSinksInWindows},
          {"tp2.cp2.pp2.dp2.zero3.sp1", kSinksInWindows},
          {"tp2.pp1.dp2.zero1.sp1", kSinksMuon}};
}

}  // namespace meshwright::trial

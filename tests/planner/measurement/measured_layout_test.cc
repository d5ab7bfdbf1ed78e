#include "planner/measurement/measured_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "planner/catalog/catalog.h"
#include "tests/planner/measurement/invented_row.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

std::string LayoutText(const Measurement& row) {
  const auto layout = LayoutOf(row);
  return layout.ok() ? FormatLayout(*layout) : std::string(layout.status().message());
}

TEST(LayoutOf, FillsEmptyCells) {
  EXPECT_EQ(LayoutText(InventedRow()), "tp2.cp1.pp2.dp2.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b");
}

TEST(LayoutOf, ReadsTheWordsOfTheSources) {
  Measurement row = InventedRow();
  row.dp = 2;
  row.zero_stage = 1;
  row.seq_parallel = "1";
  row.vpp = 2;
  row.act_ckpt = "block:3";
  row.attn = "fused-softmax";
  row.norm_kernel = "eager";
  EXPECT_EQ(LayoutText(row),
            "tp2.cp1.pp2.dp2.mb1.vpp2.zero1.sp1.rc=block:3.sched=interleaved.attn=fused_softmax."
            "norm=eager");
}

TEST(LayoutOf, KnowsLooseNamesOfAttention) {
  Measurement row = InventedRow();
  for (const char* loose : {"", "flash", "TE flash/cudnn", "sdpa flash"}) {
    row.attn = loose;
    EXPECT_EQ(LayoutOf(row)->attention, AttentionKernel::kDefault) << loose;
  }
  row.attn = "unfused (pre-flash)";
  EXPECT_EQ(LayoutOf(row)->attention, AttentionKernel::kFusedSoftmax);
  row.attn = "flash1";
  EXPECT_EQ(LayoutOf(row)->attention, AttentionKernel::kFlash1);
}

TEST(LayoutOf, KnowsTheSchedules) {
  Measurement row = InventedRow();
  const std::pair<const char*, ScheduleKind> cases[] = {
      {"1f1b", ScheduleKind::k1f1b},
      {"1f1b-interleaved", ScheduleKind::kInterleaved},
      {"gpipe", ScheduleKind::kGpipe},
      {"fsdp2", ScheduleKind::k1f1b},
      {"zb-1p", ScheduleKind::kZbH1},
      {"zb-2p", ScheduleKind::kZbH2},
      {"V-Half", ScheduleKind::kVHalf},
      {"1f1b+vocab-1", ScheduleKind::k1f1bVocab1},
      {"1f1b+vocab-2", ScheduleKind::k1f1bVocab2},
      {"1f1b+interlaced", ScheduleKind::k1f1bInterlaced},
      {"v-half+vocab-1", ScheduleKind::kVHalfVocab1},
      {"zb-v", ScheduleKind::kZbV}};
  for (const auto& [name, kind] : cases) {
    row.schedule = name;
    ASSERT_TRUE(LayoutOf(row).ok()) << name;
    EXPECT_EQ(LayoutOf(row)->schedule, kind) << name;
  }
  EXPECT_EQ(LayoutOf(row)->vpp, 2);  // zb-v
  for (const char* name : {"V-Min", "DualPipe"}) {
    row.schedule = name;
    EXPECT_THAT(LayoutText(row), HasSubstr(": is not modelled yet: ")) << name;
  }
  row.schedule = "pipes";
  EXPECT_THAT(LayoutText(row), HasSubstr("schedule = pipes: is not modelled; 1f1b"));
}

TEST(LayoutOf, InterleavingTakesTwoChunksIfTheRowSaysNone) {
  Measurement row = InventedRow();
  row.schedule = "1f1b-interleaved";
  EXPECT_EQ(LayoutOf(row)->vpp, 2);
  row.vpp = 4;
  EXPECT_EQ(LayoutOf(row)->vpp, 4);
}

TEST(LayoutOf, FsdpIsZero3UnlessTheRowSaysOtherwise) {
  Measurement row = InventedRow();
  row.schedule = "fsdp";
  EXPECT_EQ(LayoutOf(row)->zero, 3);
  row.zero_stage = 2;
  EXPECT_EQ(LayoutOf(row)->zero, 2);
}

TEST(LayoutOf, ReadsTheLayersOfStages) {
  Measurement row = InventedRow();
  row.stages = "7+9";
  EXPECT_EQ(LayoutText(row), "tp2.cp1.pp2.dp2.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b.stages=7+9");
  row.stages = "7,9";
  EXPECT_THAT(LayoutText(row), HasSubstr("must be layers per stage in order"));
}

TEST(LayoutOf, ReadsWhatIsOffloaded) {
  Measurement row = InventedRow();
  row.offload = "act:4+opt";
  EXPECT_EQ(LayoutText(row),
            "tp2.cp1.pp2.dp2.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b.offload=act:4+opt");
  row.offload = "all";
  EXPECT_THAT(LayoutText(row), HasSubstr("offload = all: must be act:N"));
}

TEST(LayoutOf, LeavesOutWhatHasNoEffect) {
  Measurement row = InventedRow();
  row.gpus = 2;
  row.tp = 1;
  row.seq_parallel = "1";
  row.zero_stage = 1;
  EXPECT_EQ(LayoutText(row), "tp1.cp1.pp2.dp1.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b");
}

// As the tables and Megatron-LM's flags name them; and as `validate` prints a layout's.
TEST(LayoutOf, TakesRecomputedModulesFromNotes) {
  const auto recompute = [](const char* model, const char* act_ckpt, const char* notes) {
    Measurement row = InventedRow();
    row.act_ckpt = act_ckpt;
    row.notes = notes;
    row.ep = 1;
    const auto layout = LayoutOf(row, FindModel(model).value());
    return layout.ok() ? FormatRecompute(*layout) : std::string(layout.status().message());
  };
  const char* table = "experts=256;recompute_modules=mlp mla_up_proj;bf16 optimizer states";
  const char* flags = "flags: recompute-modules=[layernorm mlp moe_act] transformer-impl=te";
  EXPECT_EQ(recompute("deepseek-v3", "selective", table), "mla_up_proj+mlp");
  EXPECT_EQ(recompute("deepseek-v3", "selective", flags), "layernorm+moe_act+mlp");
  EXPECT_EQ(recompute("mixtral-8x7b", "selective", flags), "layernorm+moe_act");
  EXPECT_EQ(recompute("mixtral-8x7b", "selective", table), "none");
  EXPECT_EQ(recompute("deepseek-v3", "full", flags), "full");
  EXPECT_EQ(recompute("deepseek-v3", "mlp+mla_up_proj", ""), "mla_up_proj+mlp");
  EXPECT_THAT(recompute("deepseek-v3", "selective", "recompute_modules=mlp elsewhere"),
              HasSubstr("recompute_modules = elsewhere"));
}

TEST(LayoutOf, NamesTheColumnThatIsOff) {
  const auto error = [](auto change) {
    Measurement row = InventedRow();
    change(row);
    return LayoutText(row);
  };
  EXPECT_THAT(error([](Measurement& r) { r.tp.reset(); }), HasSubstr("tp = (empty)"));
  EXPECT_THAT(error([](Measurement& r) { r.gpus.reset(); }), HasSubstr("dp = (empty)"));
  EXPECT_THAT(error([](Measurement& r) { r.tp = 0; }), HasSubstr("tp = 0"));
  EXPECT_THAT(error([](Measurement& r) { r.gpus = 9; }), HasSubstr("multiple of tp * cp * pp = 4"));
  EXPECT_THAT(error([](Measurement& r) { r.zero_stage = 4; }), HasSubstr("zero_stage = 4"));
  EXPECT_THAT(error([](Measurement& r) { r.act_ckpt = "some"; }), HasSubstr("act_ckpt = some"));
  EXPECT_THAT(error([](Measurement& r) { r.act_ckpt = "block:x"; }), HasSubstr("block:x"));
  EXPECT_THAT(error([](Measurement& r) { r.attn = "linear"; }), HasSubstr("attn = linear"));
  EXPECT_THAT(error([](Measurement& r) { r.norm_kernel = "x"; }), HasSubstr("norm_kernel = x"));
  EXPECT_THAT(error([](Measurement& r) { r.seq_parallel = "2"; }), HasSubstr("seq_parallel = 2"));
}

TEST(DevicesOf, GpusOrTheProductOfTheAxes) {
  Measurement row = InventedRow();
  EXPECT_EQ(DevicesOf(row).value(), 8);
  row.gpus.reset();
  EXPECT_THAT(std::string(DevicesOf(row).status().message()), HasSubstr("gpus = (empty)"));
  row.dp = 3;
  EXPECT_EQ(DevicesOf(row).value(), 12);
}

TEST(LayoutOf, MegatronsOwnLayersWriteScores) {
  Measurement row;
  row.gpus = 8;
  row.tp = 1;
  row.pp = 1;
  row.notes = "flags: transformer-impl=local overlap-grad-reduce";
  EXPECT_EQ(LayoutOf(row)->attention, AttentionKernel::kFusedSoftmax);
  row.attn = "flash";
  EXPECT_EQ(LayoutOf(row)->attention, AttentionKernel::kDefault);
  row.attn = "";
  row.notes = "flags: transformer-impl=transformer_engine";
  EXPECT_EQ(LayoutOf(row)->attention, AttentionKernel::kDefault);
}

TEST(PrecisionOf, KnowsFormatsAndRecipes) {
  Measurement row;
  for (const char* half : {"", "bf16", "amp_bf16", "fp16/bf16 (unstated)"}) {
    row.precision = half;
    EXPECT_EQ(PrecisionOf(row).value(), Precision::kBf16) << half;
  }
  row.precision = "fp16";
  EXPECT_EQ(PrecisionOf(row).value(), Precision::kFp16);
  row.precision = "fp32";
  EXPECT_EQ(PrecisionOf(row).value(), Precision::kFp32);
  row.precision = "fp64";
  EXPECT_EQ(PrecisionOf(row).value(), Precision::kFp64);
  const std::pair<const char*, Precision> recipes[] = {{"fp8", Precision::kFp8Delayed},
                                                       {"bf16+fp8(hybrid)", Precision::kFp8Delayed},
                                                       {"FP8-CS", Precision::kFp8Current},
                                                       {"float8", Precision::kFp8Current},
                                                       {"fp8-blockwise", Precision::kFp8Blockwise},
                                                       {"mxfp8", Precision::kMxfp8},
                                                       {"fp8-mx", Precision::kMxfp8},
                                                       {"nvfp4", Precision::kNvfp4}};
  for (const auto& [words, recipe] : recipes) {
    row.precision = words;
    EXPECT_EQ(PrecisionOf(row).value(), recipe) << words;
  }
  row.precision = "int4";
  EXPECT_THAT(std::string(PrecisionOf(row).status().message()), HasSubstr("int4"));
}

}  // namespace
}  // namespace meshwright::planner

#include "planner/measurement/stated_flops.h"

#include <gtest/gtest.h>

#include "planner/measurement/row_prediction.h"
#include "tests/planner/measurement/invented_row.h"

namespace meshwright::planner {
namespace {

// GPT-3 175B of Narayanan et al. (arXiv 2104.04473): F = 96 B s l h^2 (1 + s / 6h + V / 16lh).
Measurement Gpt3() {
  Measurement row;
  row.model = "GPT-175B";
  row.layers = 96;
  row.hidden = 12288;
  row.ffn = 4 * 12288;
  row.heads = 96;
  row.vocab = 51200;
  row.seq = 2048;
  row.gpu = "A100-SXM";
  row.gpu_mem_gib = 80;
  row.gpus = 1024;
  row.tp = 8;
  row.pp = 16;
  row.dp = 8;
  row.mbs = 1;
  row.gbs = 1536;
  row.framework = "megatron";
  row.attn = "fused-softmax";
  row.act_ckpt = "full";
  row.outcome = RunOutcome::kOk;
  return row;
}

double Published(double passes) {
  const double batch = 1536.0;
  const double seq = 2048.0;
  const double layers = 96.0;
  const double hidden = 12288.0;
  const double vocab = 51200.0;
  const double layer = 24.0 * hidden * hidden + 4.0 * hidden * seq;  // of a token's forward
  return batch * seq * (passes * layers * layer + 6.0 * hidden * vocab);
}

double Stated(const Measurement& row) { return StatedStepFlops(row, *PlanRow(row, ShippedPresets()).row); }

TEST(StatedStepFlops, CountsWholeScoresUnlessTheNotesSayCausal) {
  Measurement row = Gpt3();
  EXPECT_NEAR(Stated(row), Published(3.0), 1e-3 * Published(3.0));
  row.notes = "causal (half) attention";
  EXPECT_LT(Stated(row), Published(3.0));
}

TEST(StatedStepFlops, CountsRecomputeWhereTheNotesDo) {
  Measurement row = Gpt3();
  row.notes = "a; counts recompute FLOPs";
  EXPECT_NEAR(Stated(row), Published(4.0), 1e-3 * Published(4.0));
  row.act_ckpt = "none";
  EXPECT_NEAR(Stated(row), Published(3.0), 1e-3 * Published(3.0));
}

TEST(StatedStepFlops, TimeARowThatStatesThemAlone) {
  Measurement row = Gpt3();
  row.notes = "counts recompute FLOPs";
  row.tflops_per_gpu = 138.0;
  const RowPrediction prediction = PredictRow(0, row, ShippedPresets());
  ASSERT_TRUE(prediction.step_s);
  EXPECT_NEAR(*prediction.step_s, Published(4.0) / (138e12 * 1024.0), 0.05);
}

}  // namespace
}  // namespace meshwright::planner

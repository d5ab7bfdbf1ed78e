// ThreadLayoutsTest runs a layout with threads as ranks. It compares losses, gradients and their
// norm with the single-rank autograd reference, and peak memory with the planner's estimate.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "executor/worker/comm/cpu_device.h"
#include "planner/catalog/catalog.h"
#include "planner/memory/rank_memory.h"
#include "tests/executor/bf16_memory.h"
#include "tests/executor/worker/layout_run.h"

namespace meshwright::worker {

class ThreadLayoutsTest : public testing::TestWithParam<trial::LayoutCase> {
 protected:
  ThreadLayoutsTest() : run_(GetParam()) { KeepMatmulsWithoutScratch(); }

  // Runs the plan. Returns, by pipeline rank, the peak bytes of the fullest rank, since ranks of a
  // CP group differ a little.
  std::map<int32_t, int64_t> Run(planner::Precision precision) {
    run_.plan().training.precision = precision;
    run_.Run();
    std::map<int32_t, int64_t> fullest;
    for (const ThreadRank& rank : run_.ranks()) {
      fullest[rank.pipeline_rank] = std::max(fullest[rank.pipeline_rank], rank.peak_bytes);
    }
    return fullest;
  }

  planner::MemoryEstimate Predicted(int32_t pipeline_rank) {
    const trial::TrialPlan& plan = run_.plan();
    const auto cores = static_cast<int32_t>(plan.layout.devices());
    const planner::ClusterSpec cluster = planner::FindCluster("local-cpu", cores).value();
    const planner::FrameworkProfile profile = planner::FindProfile("meshwright").value();
    const planner::EstimateContext context{plan.model, cluster, plan.training, profile};
    return planner::EstimateRankMemory(context, plan.layout, pipeline_rank);
  }
  int64_t PredictedBytes(int32_t pipeline_rank) {
    return Predicted(pipeline_rank).allocator_bytes();
  }

  void ExpectExact(planner::Precision precision, double tolerance) {
    for (const auto& [pipeline_rank, peak_bytes] : Run(precision)) {
      EXPECT_EQ(peak_bytes, PredictedBytes(pipeline_rank)) << "pipeline rank " << pipeline_rank;
    }
    run_.ExpectReferenceNumbers(tolerance, tolerance);
    run_.ExpectPlannedInFlight();
  }

  // Runs the plan in bf16, and compares it with the reference in fp32.
  void ExpectWithinBf16() {
    for (const auto& [pipeline_rank, peak_bytes] : Run(planner::Precision::kBf16)) {
      const auto predicted = static_cast<double>(PredictedBytes(pipeline_rank));
      const double share = static_cast<double>(peak_bytes) / predicted;
      EXPECT_GE(share, LeastShareOfBf16Memory())
          << peak_bytes << " on pipeline rank " << pipeline_rank;
      EXPECT_LE(share, kMostShareOfBf16Memory)
          << peak_bytes << " on pipeline rank " << pipeline_rank;
    }
    // Rounding may flip the sign of a ReLU's input, or move a value across a clamp's limit. The
    // slope then jumps, so that gradients differ more.
    const planner::Ffn& ffn = run_.plan().model.groups.front().ffn;
    const bool jumps = ffn.kind == planner::FfnKind::kRelu || ffn.clamp > 0.0;
    run_.ExpectReferenceNumbers(jumps ? 0.2 : 0.1, 0.02);
  }

  LayoutRun run_;
};

}  // namespace meshwright::worker

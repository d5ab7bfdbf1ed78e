// RoutedLayoutsTest runs a layout of a model with learned routing, with threads as ranks. It
// compares losses, gradients and their norm with the single-rank autograd reference, and peak
// memory with the planner's estimate for the actual routing.
#pragma once

#include "executor/trial/routed_memory.h"
#include "tests/executor/worker/thread_layouts.h"

namespace meshwright::worker {

// Routing follows the routers' scores, so that ranks receive unequal numbers of tokens.
class RoutedLayoutsTest : public ThreadLayoutsTest {
 protected:
  void ExpectExactAsRouted(double tolerance) {
    run_.plan().training.precision = planner::Precision::kFp64;
    run_.Run();
    run_.ExpectReferenceNumbers(tolerance, tolerance);
    ExpectRoutedMemory();
  }

 private:
  // Expects that each rank's peak equals the estimate for the rows that the rank sent and received.
  void ExpectRoutedMemory() {
    trial::TrialPlan& plan = run_.plan();
    for (int32_t rank = 0; rank < plan.layout.pp; ++rank) {
      plan.estimated_bytes.push_back(PredictedBytes(rank));
    }
    int64_t uneven = 0;
    for (const ThreadRank& rank : run_.ranks()) {
      const absl::StatusOr<int64_t> bytes = trial::RoutedBytes(
          plan, rank.pipeline_rank, rank.expert_rows, static_cast<int32_t>(plan.layout.devices()));
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      EXPECT_EQ(rank.peak_bytes, *bytes);
      if (*bytes != plan.estimated_bytes[static_cast<size_t>(rank.pipeline_rank)]) ++uneven;
    }
    RecordProperty("ranks_off_their_balanced_estimate", static_cast<int>(uneven));
  }
};

}  // namespace meshwright::worker

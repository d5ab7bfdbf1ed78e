// What layouts offload, over threads: the numbers stay those of the reference and, to the bit,
// those of the same layout without offload, and the bytes on the device and on the host are the
// planned.
#include "tests/executor/layout_choice.h"
#include "tests/executor/worker/thread_layouts.h"

namespace meshwright::worker {
namespace {

using trial::LayoutCase;

// By pipeline rank: the most that one of its ranks holds on its host.
std::map<int32_t, int64_t> HostPeaks(const std::vector<ThreadRank>& ranks) {
  std::map<int32_t, int64_t> peaks;
  for (const ThreadRank& rank : ranks) {
    peaks[rank.pipeline_rank] = std::max(peaks[rank.pipeline_rank], rank.host_peak_bytes);
  }
  return peaks;
}

class OffloadLayoutsTest : public ThreadLayoutsTest {
 protected:
  void ExpectPlannedHostBytes() {
    for (const auto& [pipeline_rank, bytes] : HostPeaks(run_.ranks())) {
      EXPECT_EQ(bytes, Predicted(pipeline_rank).host_bytes) << "pipeline rank " << pipeline_rank;
      EXPECT_GT(bytes, 0) << "pipeline rank " << pipeline_rank;
    }
  }

  // Requires that it ran.
  void ExpectTheBitsWithoutOffload() {
    trial::TrialPlan plan = run_.plan();
    plan.layout.offload = {};
    const std::vector<ThreadRank> others = RunOnThreads(plan);
    ASSERT_EQ(others.size(), run_.ranks().size());
    for (size_t rank = 0; rank < others.size(); ++rank) {
      const ThreadRank& offloaded = run_.ranks()[rank];
      EXPECT_EQ(others[rank].error, "");
      EXPECT_EQ(offloaded.losses, others[rank].losses) << "rank " << rank;
      EXPECT_EQ(offloaded.gradient_square_sums, others[rank].gradient_square_sums)
          << "rank " << rank;
      EXPECT_EQ(others[rank].host_peak_bytes, 0);
    }
  }
};

TEST_P(OffloadLayoutsTest, Fp32EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp32, 1e-4);
  ExpectPlannedHostBytes();
  ExpectTheBitsWithoutOffload();
}

TEST_P(OffloadLayoutsTest, Fp64EqualsTheReferenceAndItsMemoryIsExact) {
  ExpectExact(planner::Precision::kFp64, 1e-9);
  ExpectPlannedHostBytes();
}

TEST_P(OffloadLayoutsTest, Bf16IsNearTheReferenceAndItsMemoryWithinTwoPercent) {
  ExpectWithinBf16();
  ExpectPlannedHostBytes();
  ExpectTheBitsWithoutOffload();
}

INSTANTIATE_TEST_SUITE_P(All, OffloadLayoutsTest,
                         testing::ValuesIn(trial::Chosen("offload", trial::OffloadCases())),
                         [](const auto& test) { return trial::CaseName(test.param); });

// Blocks that keep more than a Llama's.
INSTANTIATE_TEST_SUITE_P(
    Parts, OffloadLayoutsTest,
    testing::Values(LayoutCase{"tp1.pp1.dp1.mb2.offload=act:2", {.latent = true}},
                    LayoutCase{"tp1.pp1.dp1.mb2.offload=act:4", {.window = 6}},
                    LayoutCase{"tp1.pp1.dp2.ep2.offload=act:2", {.experts = 4, .balanced = true}},
                    LayoutCase{"tp2.pp2.dp1.ep2.sp1.offload=act:2",
                               {.experts = 8, .top_k = 3, .shared = true, .balanced = true}},
                    LayoutCase{"tp1.pp1.dp2.ep2.zero1.offload=opt",
                               {.experts = 4, .balanced = true}}),
    [](const auto& test) { return trial::CaseName(test.param); });

}  // namespace
}  // namespace meshwright::worker

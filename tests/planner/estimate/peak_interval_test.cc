#include "planner/estimate/peak_interval.h"

#include <gtest/gtest.h>

#include "planner/estimate/estimate.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

TEST(PeakInterval, IsWiderTheFartherTheEvidence) {
  const FrameworkProfile profile = FindProfile("megatron").value();
  const ErrorSigma source = PeakErrorAt(EvidenceLevel::kFittedSource, profile);
  const ErrorSigma others = PeakErrorAt(EvidenceLevel::kFrameworkAndChip, profile);
  const ErrorSigma neither = PeakErrorAt(EvidenceLevel::kNeither, profile);
  EXPECT_EQ(source.shared, 0.0);
  EXPECT_EQ(source.own, profile.kept.peak_sigma);
  EXPECT_LT(source.total(), others.total());
  EXPECT_LT(others.total(), neither.total());
  EXPECT_GT(PeakIntervalOf(source).low, PeakIntervalOf(neither).low);
  EXPECT_LT(PeakIntervalOf(source).high, PeakIntervalOf(neither).high);
}

TEST(PeakInterval, ASharedErrorWidensTheProbabilityAndKeepsItsCenter) {
  const FrameworkProfile profile = FindProfile("megatron").value();
  const OomCurve own = OomCurveOf(profile, 0.0);
  const OomCurve wide = OomCurveOf(profile, 0.15);
  EXPECT_DOUBLE_EQ(wide.At(profile.kept.oom_center), 0.5);
  EXPECT_GT(wide.At(0.8 * profile.kept.oom_center), own.At(0.8 * profile.kept.oom_center));
  EXPECT_LT(wide.At(1.2 * profile.kept.oom_center), own.At(1.2 * profile.kept.oom_center));
}

TEST(PeakInterval, AnEstimateHasIt) {
  const TestContext specs = MakeContext("llama-3-8b", "h100", 8192, 64);
  const Estimate estimate = EstimateLayout(specs.get(), MakeLayout("tp2.pp1.dp8.mb1.zero1"));
  const PeakInterval interval = PeakIntervalOf(PeakErrorOf(specs.get()));
  const auto total = static_cast<double>(estimate.memory.total_bytes());
  EXPECT_NEAR(static_cast<double>(estimate.peak_low_bytes), interval.low * total, 1.0);
  EXPECT_NEAR(static_cast<double>(estimate.peak_high_bytes), interval.high * total, 1.0);
}

TEST(PeakInterval, PoolsOfGraphsOfWholeIterationsTakeMemoryAndWidenIt) {
  TestContext specs = MakeContext("llama-3-8b", "gb200", 8192, 64);
  specs.profile = FindProfile("nemo-graphs").value();
  const Layout layout = MakeLayout("tp1.pp2.dp4.mb1.zero1");
  const MemoryEstimate unsaid = EstimateMemory(specs.get(), layout);
  const double sigma = PeakErrorOf(specs.get()).total();
  specs.training.options.cuda_graphs = CudaGraphs::kIteration;
  const MemoryEstimate captured = EstimateMemory(specs.get(), layout);
  const double pooled = specs.profile.kept.graph_pool_share *
                        static_cast<double>(captured.activations_bytes + captured.loss_bytes);
  EXPECT_GT(pooled, 0.0);
  EXPECT_NEAR(static_cast<double>(captured.total_bytes() - unsaid.total_bytes()), pooled, 2.0);
  EXPECT_GT(PeakErrorOf(specs.get()).total(), sigma);
  specs.training.options.cuda_graphs = CudaGraphs::kAttention;
  EXPECT_EQ(EstimateMemory(specs.get(), layout), unsaid);
}

}  // namespace
}  // namespace meshwright::planner

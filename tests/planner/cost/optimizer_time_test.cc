#include "planner/cost/optimizer_time.h"

#include <gtest/gtest.h>

#include "planner/block/parameters.h"
#include "planner/cost/collective.h"
#include "tests/planner/plain_context.h"

namespace meshwright::planner {
namespace {

constexpr double kBytesPerS = 2.039e12 * 0.85;

double OptimizerSeconds(const TestContext& test, const char* text) {
  const Layout layout = MakeLayout(text);
  const EstimateContext context = test.get();
  return OptimizerTime(StepShape(context, layout));
}

// AdamW streams 30 bytes for each parameter that the rank owns.
TEST(OptimizerTime, OfAdamWStreamsThePublishedBytesOfOwnedParameters) {
  TestContext test = PlainContext("llama-2-7b", 4096, 64);
  const double all_s = 30.0 * static_cast<double>(Parameters(test.model)) / kBytesPerS;
  EXPECT_DOUBLE_EQ(OptimizerSeconds(test, "tp1.pp1.dp8.zero0"), all_s);
  EXPECT_DOUBLE_EQ(OptimizerSeconds(test, "tp1.pp1.dp8.zero1"), all_s / 8.0);
  EXPECT_DOUBLE_EQ(OptimizerSeconds(test, "tp1.cp2.pp1.dp4.zero3"), all_s / 8.0);
  test.profile.traffic.step_overhead_s = 0.25;
  EXPECT_DOUBLE_EQ(OptimizerSeconds(test, "tp1.pp1.dp8.zero0"), all_s + 0.25);
}

class MuonTime : public testing::Test {
 protected:
  MuonTime() { test_.training.optimizer = kMuon; }

  // Of one iteration on [m, n], m <= n.
  double Iteration(double m, double n) const {
    const EstimateContext context = test_.get();
    const Layout layout = MakeLayout("tp1.pp1.dp1");
    const StepShape step(context, layout);
    const auto product = [&](double rows, double outputs, double inputs) {
      return MatmulTime(step.device, NumberFormat::kBf16,
                        {.rows = static_cast<int64_t>(rows),
                         .outputs = static_cast<int64_t>(outputs),
                         .inputs = static_cast<int64_t>(inputs)});
    };
    return product(m, m, n) + product(m, m, m) + product(m, n, m);
  }
  // Without what is read and written: five iterations on all matrices of a layer.
  double LayerIterations() const {
    return 5.0 * (4.0 * Iteration(4096, 4096) + 3.0 * Iteration(4096, 11008));
  }
  double Streamed(double owners) const {
    const auto all = static_cast<double>(Parameters(test_.model));
    const double matrices =
        all - 2.0 * 32000.0 * 4096.0 - 4096.0 * static_cast<double>(2 * test_.model.layers() + 1);
    return (30.0 * (all - matrices) + 26.0 * matrices) / owners / kBytesPerS;
  }

  TestContext test_ = PlainContext("llama-2-7b", 4096, 64);
};

TEST_F(MuonTime, WithoutZeroOrthogonalisesEveryMatrixOnEveryRank) {
  const double iterations_s = static_cast<double>(test_.model.layers()) * LayerIterations();
  EXPECT_NEAR(OptimizerSeconds(test_, "tp1.pp1.dp8.zero0"), Streamed(1.0) + iterations_s,
              1e-9 * iterations_s);
}

// With a gather and a scatter of the momentum.
TEST_F(MuonTime, UnderZeroAndTensorParallelSharesMatricesOut) {
  const double iterations_s = static_cast<double>(test_.model.layers()) * LayerIterations() / 8.0;
  const double zero_s = OptimizerSeconds(test_, "tp1.pp1.dp8.zero1");
  EXPECT_GT(zero_s, Streamed(8.0) + iterations_s);
  EXPECT_LT(zero_s, 1.1 * (Streamed(8.0) + iterations_s));
  const double tensor_s = OptimizerSeconds(test_, "tp8.pp1.dp1.sp1");
  EXPECT_GT(tensor_s, iterations_s);
  EXPECT_LT(tensor_s, 1.2 * (Streamed(8.0) + iterations_s));
  EXPECT_EQ(OptimizerSeconds(test_, "tp1.pp1.dp8.zero1"),
            OptimizerSeconds(test_, "tp1.pp1.dp8.zero3"));
}

// The ranks beyond the number of matrices have nothing to do.
TEST_F(MuonTime, TakesAtLeastTheLargestMatrix) {
  const double largest_s = 5.0 * Iteration(4096, 11008);
  EXPECT_GT(OptimizerSeconds(test_, "tp1.pp1.dp1024.zero1"), largest_s);
  EXPECT_LT(OptimizerSeconds(test_, "tp1.pp1.dp1024.zero1"), 1.3 * largest_s);
}

// Experts are small matrices of their own; what has one owner is shared out over their replicas.
TEST_F(MuonTime, OfExpertsIsThatOfEachExpert) {
  TestContext experts = PlainContext("mixtral-8x7b", 4096, 64);
  experts.training.optimizer = kMuon;
  const double whole_s = OptimizerSeconds(experts, "tp1.pp1.dp8.zero0");
  const double divided_s = OptimizerSeconds(experts, "tp1.pp1.dp8.ep8.zero0");
  const double attention_s =
      static_cast<double>(experts.model.layers()) * 5.0 *
      (2.0 * Iteration(4096, 4096) + 2.0 * Iteration(1024, 4096) + Iteration(8, 4096));
  EXPECT_NEAR(whole_s - divided_s, (whole_s - attention_s) * 7.0 / 8.0, 0.05 * whole_s);
}

}  // namespace
}  // namespace meshwright::planner

#include "tests/executor/worker/layout_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "planner/schedule/schedule.h"
#include "tests/executor/worker/reference_run.h"

namespace meshwright::worker {
namespace {

void Record(const char* property, double deviation) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", deviation);
  testing::Test::RecordProperty(property, text.data());
}

}  // namespace

void LayoutRun::Run(ThreadRunOptions options) {
  options.gradients_folder = folder_.path();
  ranks_ = RunOnThreads(plan_, options);
  for (const ThreadRank& rank : ranks_) EXPECT_EQ(rank.error, "");
}

void LayoutRun::ExpectReferenceNumbers(double gradient_tolerance, double tolerance) {
  const ReferenceRun& reference =
      ReferenceRunOf(plan_.model, plan_.training, plan_.seed, plan_.steps);
  Record("worst_gradient_deviation",
         trial::ExpectSameGradients(reference, folder_.path(), plan_.layout, gradient_tolerance));
  const std::vector<ReferenceStep>& expected = reference.steps;
  bool told = false;
  double worst_loss = 0.0;
  double worst_norm = 0.0;
  for (size_t step = 0; step < expected.size(); ++step) {
    for (const ThreadRank& rank : ranks_) {
      if (rank.losses.empty()) continue;
      told = true;
      EXPECT_NEAR(rank.losses.at(step), expected[step].loss, tolerance) << "step " << step;
      worst_loss = std::max(worst_loss, std::abs(rank.losses[step] - expected[step].loss));
    }
    const double norm_ratio = GradientNorm(step) / expected[step].gradient_norm;
    EXPECT_NEAR(norm_ratio, 1.0, tolerance) << "step " << step;
    worst_norm = std::max(worst_norm, std::abs(norm_ratio - 1.0));
  }
  EXPECT_TRUE(told);
  Record("worst_loss_deviation", worst_loss);
  Record("worst_gradient_norm_deviation", worst_norm);
}

void LayoutRun::ExpectPlannedInFlight() const {
  const auto micro_batches =
      static_cast<int32_t>(plan_.layout.MicroBatches(plan_.training.global_batch));
  for (const ThreadRank& rank : ranks_) {
    const auto actions =
        planner::MakeSchedule(plan_.layout, rank.pipeline_rank, micro_batches).value();
    EXPECT_EQ(rank.peak_in_flight, planner::PeakInFlight(actions));
  }
}

double LayoutRun::GradientNorm(size_t step) const {
  double square_sum = 0.0;
  for (const ThreadRank& rank : ranks_) square_sum += rank.gradient_square_sums.at(step);
  return std::sqrt(square_sum);
}

}  // namespace meshwright::worker

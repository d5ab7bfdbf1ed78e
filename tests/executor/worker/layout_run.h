// LayoutRun runs a layout whose ranks are threads of the test, and compares its numbers with the
// single-rank autograd reference.
#pragma once

#include <vector>

#include "executor/trial/trial.h"
#include "tests/executor/layout_cases.h"
#include "tests/executor/trial/gradient_comparison.h"
#include "tests/executor/worker/thread_run.h"

namespace meshwright::worker {

class LayoutRun {
 public:
  // Runs three steps with Muon and two with AdamW, so that the effect of the first moment shows.
  explicit LayoutRun(const trial::LayoutCase& test_case)
      : plan_(trial::PlanOf(test_case, test_case.model.muon ? 3 : 2)) {}

  // May be changed before the run.
  trial::TrialPlan& plan() { return plan_; }
  const std::vector<ThreadRank>& ranks() const { return ranks_; }

  // Expects that no rank fails.
  void Run(ThreadRunOptions options = {});

  // Compares every gradient of the first step, and each step's loss and gradient norm. The largest
  // deviation of each kind becomes a property of the test.
  void ExpectReferenceNumbers(double gradient_tolerance, double tolerance);
  void ExpectPlannedInFlight() const;

 private:
  double GradientNorm(size_t step) const;

  trial::TemporaryFolder folder_;
  trial::TrialPlan plan_;
  std::vector<ThreadRank> ranks_;
};

}  // namespace meshwright::worker

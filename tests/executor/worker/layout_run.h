// A layout whose ranks are threads of the test, and what its numbers have to be: those of the
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
  // What a moment of an earlier step does shows in the third one, with AdamW in the second.
  explicit LayoutRun(const trial::LayoutCase& test_case)
      : plan_(trial::PlanOf(test_case, test_case.model.muon ? 3 : 2)) {}

  // To be changed before it runs.
  trial::TrialPlan& plan() { return plan_; }
  const std::vector<ThreadRank>& ranks() const { return ranks_; }

  // Expects that no rank fails.
  void Run(ThreadRunOptions options = {});

  // Every gradient of the first step, and of each step the loss and the norm of the gradients. The
  // largest deviations of each kind become properties of the test.
  void ExpectReferenceNumbers(double gradient_tolerance, double tolerance);
  void ExpectPlannedInFlight() const;

 private:
  double GradientNorm(size_t step) const;

  trial::TemporaryFolder folder_;
  trial::TrialPlan plan_;
  std::vector<ThreadRank> ranks_;
};

}  // namespace meshwright::worker

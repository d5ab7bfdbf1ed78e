// Training steps of a layout whose ranks are threads of the test, over the thread communicator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/trial/step_record.h"
#include "executor/trial/trial.h"
#include "executor/worker/communicator.h"
#include "executor/worker/device.h"

namespace meshwright {

struct ThreadRank {
  int32_t pipeline_rank = 0;
  std::vector<double> losses;  // on ranks that know them
  std::vector<double> gradient_square_sums;
  int64_t peak_bytes = 0;
  int32_t peak_in_flight = 0;
  std::vector<StepRecord> records;  // of each step
  std::string error;                // empty while all is well
};

// What a rank uses in place of its communicator in a group.
using WrapCommunicator = std::function<std::unique_ptr<Communicator>(
    std::unique_ptr<Communicator> communicator, const GroupSpec& group, int32_t rank)>;

// Runs `plan` with one compute thread per rank; gradients go to its dump_gradients_dir. The result
// is by rank. `wrap` may be empty; ranks call it on their own threads.
std::vector<ThreadRank> RunOnThreads(const TrialPlan& plan, const WrapCommunicator& wrap = {});

// Runs each rank of `plan` alone, as if the others were there.
std::vector<ThreadRank> RunAlone(const TrialPlan& plan);

}  // namespace meshwright

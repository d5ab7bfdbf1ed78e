// TimeCommunicator() wraps a communicator so that its operations are recorded. The wrapped
// communicator has the same contract.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/observe/step_recorder.h"

namespace meshwright::worker {

// The entry of a group in the record of a step.
struct TimedGroup {
  std::string name;
  std::vector<int32_t> ranks;                 // global ranks, in the group's order
  trial::Phase phase = trial::Phase::kOther;  // the rank's phase while it waits for the group
};

// Returns `communicator`, wrapped. The rank is in the group's phase while an operation is issued or
// waited for. REQUIRES: `recorder` outlives the result.
std::unique_ptr<Communicator> TimeCommunicator(std::unique_ptr<Communicator> communicator,
                                               TimedGroup group, StepRecorder& recorder);

}  // namespace meshwright::worker

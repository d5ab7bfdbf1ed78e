// Times what another communicator does, so that neither it nor its users know.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/observe/step_recorder.h"

namespace meshwright::worker {

// How a group appears in what is recorded.
struct TimedGroup {
  std::string name;
  std::vector<int32_t> ranks;                 // of the run, in the group's order
  trial::Phase phase = trial::Phase::kOther;  // what the rank does while it waits for the group
};

// `recorder` outlives it. The rank's phase is the group's while an operation is issued or waited
// for.
std::unique_ptr<Communicator> TimeCommunicator(std::unique_ptr<Communicator> communicator,
                                               TimedGroup group, StepRecorder& recorder);

}  // namespace meshwright::worker

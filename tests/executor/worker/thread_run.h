// Training steps of a layout whose ranks are threads of the test, over the thread communicator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "executor/trial/step_record.h"
#include "executor/trial/trial.h"
#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"
#include "executor/worker/comm/thread_communicator.h"
#include "executor/worker/run/action_padding.h"
#include "planner/block/expert_rows.h"

namespace meshwright::worker {

struct ThreadRank {
  int32_t pipeline_rank = 0;
  std::vector<double> losses;  // on ranks that know them
  std::vector<double> gradient_square_sums;
  int64_t peak_bytes = 0;       // of the rank on a CPU; threads of one GPU share an allocator
  int64_t host_peak_bytes = 0;  // of what the layout offloads
  int32_t peak_in_flight = 0;
  std::vector<trial::StepRecord> records;                     // of each step
  std::vector<std::vector<planner::ExpertRows>> expert_rows;  // likewise
  // Of each layer with experts whose biases move, in the order of the rank's chunks; at the end.
  std::vector<std::vector<double>> selection_biases;
  std::string error;  // empty while all is well
};

// Opens the device of the rank whose thread calls. Its groups are those of `hub`, if any.
using OpenRankDevice = std::function<std::unique_ptr<Device>(ThreadHub* hub)>;
std::unique_ptr<Device> OpenCpuRank(ThreadHub* hub);

// What a rank uses in place of its communicator in a group.
using WrapCommunicator = std::function<std::unique_ptr<Communicator>(
    std::unique_ptr<Communicator> communicator, const GroupSpec& group, int32_t rank)>;

// Ranks call both on their own threads.
struct ThreadRunOptions {
  OpenRankDevice open_device = OpenCpuRank;
  WrapCommunicator wrap = {};  // may be empty
  bool rehearse = false;       // before the first step
  ActionPadding padding = {};
  std::string gradients_folder = {};  // where those of the first step go; empty: nowhere
};

// Runs `plan` with one compute thread per rank. The result is by rank.
std::vector<ThreadRank> RunOnThreads(const trial::TrialPlan& plan,
                                     const ThreadRunOptions& options = {});

// Runs each rank of `plan` alone, as if the others were there.
std::vector<ThreadRank> RunAlone(const trial::TrialPlan& plan);

}  // namespace meshwright::worker

// RunOnThreads() runs training steps of a layout whose ranks are threads of the test and use the
// thread communicator.
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
  std::vector<double> losses;  // on ranks that compute them
  std::vector<double> gradient_square_sums;
  int64_t peak_bytes = 0;       // of the rank on a CPU; of all ranks on a GPU, which share it
  int64_t host_peak_bytes = 0;  // bytes that the layout offloads
  int32_t peak_in_flight = 0;
  std::vector<trial::StepRecord> records;                     // by step
  std::vector<std::vector<planner::ExpertRows>> expert_rows;  // by step
  // Final selection biases of each layer that updates them, in the order of the rank's chunks.
  std::vector<std::vector<double>> selection_biases;
  std::string error;  // empty on success
};

// Opens the device of the calling thread's rank. Groups use `hub` if it is not null.
using OpenRankDevice = std::function<std::unique_ptr<Device>(ThreadHub* hub)>;
std::unique_ptr<Device> OpenCpuRank(ThreadHub* hub);

// Replaces a rank's communicator in a group.
using WrapCommunicator = std::function<std::unique_ptr<Communicator>(
    std::unique_ptr<Communicator> communicator, const GroupSpec& group, int32_t rank)>;

// Each rank calls `open_device` and `wrap` on its own thread.
struct ThreadRunOptions {
  OpenRankDevice open_device = OpenCpuRank;
  WrapCommunicator wrap = {};  // may be empty
  bool rehearse = false;       // before the first step
  ActionPadding padding = {};
  std::string gradients_folder = {};  // destination of the first step's gradients; empty: none
};

// Runs `plan` with one compute thread per rank. The result has one entry per rank, in order.
std::vector<ThreadRank> RunOnThreads(const trial::TrialPlan& plan,
                                     const ThreadRunOptions& options = {});

// Runs each rank of `plan` alone, with communicators that simulate the other ranks.
std::vector<ThreadRank> RunAlone(const trial::TrialPlan& plan);

}  // namespace meshwright::worker

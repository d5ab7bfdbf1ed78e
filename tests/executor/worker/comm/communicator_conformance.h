// CommunicatorTest is the fixture of the tests that all communicators must pass.
// communicator_conformance.cc has the tests, and a program that links it instantiates them. Ranks
// are threads of this process, each with its own communicators, as in separate processes.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"
#include "executor/worker/comm/thread_communicator.h"
#include "executor/worker/observe/timed_communicator.h"

namespace meshwright::worker {

// The objects through which the ranks of one test connect: a store for sockets, a hub for threads.
struct MeetingPlace {
  c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
  ThreadHub hub;
  // Devices of ranks that share one GPU, by rank.
  std::map<int32_t, std::unique_ptr<Device>> devices;
  // Clock and recorder of a rank whose operations are timed. Must not move in memory.
  struct Recording {
    PhaseClock clock;
    StepRecorder recorder{clock};
  };
  std::mutex mutex;
  std::list<Recording> recordings;
};

using Connect =
    std::function<std::unique_ptr<Communicator>(MeetingPlace&, const GroupSpec&, int32_t rank)>;

struct Implementation {
  std::string name;
  Connect connect;
  int32_t ranks = 3;
  // The type of device of the ranks' tensors, and whether all ranks use the first such device.
  c10::DeviceType device = c10::DeviceType::CPU;
  bool one_device = false;
};

// Returns an implementation whose communicators are those of `connect`, timed during a step.
Implementation Timed(std::string name, Connect connect);

inline constexpr auto kCommunicatorTimeout = std::chrono::milliseconds(20000);

class CommunicatorTest : public testing::TestWithParam<Implementation> {
 protected:
  static void SetUpTestSuite();

  int32_t ranks() const { return GetParam().ranks; }
  int32_t last() const { return ranks() - 1; }
  // Returns the sum of rank + 1 over all ranks.
  double SumOfRanks() const { return ranks() * (ranks() + 1) / 2.0; }

  // Runs `body` on all ranks concurrently; rethrows the first exception here.
  void OnEveryRank(const std::function<void(int32_t rank)>& body);

  std::unique_ptr<Communicator> Join(const char* group, std::vector<int32_t> members, int32_t rank,
                                     std::chrono::milliseconds timeout = kCommunicatorTimeout);
  // Returns the communicator of all ranks. It lives until all ranks are done, since Gloo fails a
  // receive that is pending when the sender closes its end.
  std::shared_ptr<Communicator> JoinWorld(int32_t rank);

  // Returns a tensor of `count` elements of this value on the device of `rank`.
  at::Tensor Filled(int32_t rank, int64_t count, double value,
                    at::ScalarType type = at::kFloat) const;

  MeetingPlace place_;

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Communicator>> worlds_;  // guarded by mutex_
};

// The fixture of further tests for communicators on CPUs, which account memory and throw errors.
class CpuCommunicatorTest : public CommunicatorTest {};

bool AllAre(const at::Tensor& tensor, double value);

}  // namespace meshwright::worker

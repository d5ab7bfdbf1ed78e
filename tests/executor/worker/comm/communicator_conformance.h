// The test suite for all communicators: communicator_conformance.cc has the tests, and whoever
// links it instantiates them. Ranks are threads of this process, each with its own communicators,
// as in separate processes.
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

// Where the ranks of one test meet: a store for those that connect, a hub for threads.
struct MeetingPlace {
  c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
  ThreadHub hub;
  // For ranks that share one, by rank.
  std::map<int32_t, std::unique_ptr<Device>> devices;
  // For ranks that are timed; must not move.
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
  // Where a rank's tensors are, and whether all ranks use the first device there.
  c10::DeviceType device = c10::DeviceType::CPU;
  bool one_device = false;
};

// Wraps another kind, timed in the middle of a step.
Implementation Timed(std::string name, Connect connect);

inline constexpr auto kCommunicatorTimeout = std::chrono::milliseconds(20000);

class CommunicatorTest : public testing::TestWithParam<Implementation> {
 protected:
  static void SetUpTestSuite();

  int32_t ranks() const { return GetParam().ranks; }
  int32_t last() const { return ranks() - 1; }
  // 1 + 2 + ...: the sum of rank + 1 over all ranks.
  double SumOfRanks() const { return ranks() * (ranks() + 1) / 2.0; }

  // Runs `body` on all ranks concurrently; rethrows the first exception here.
  void OnEveryRank(const std::function<void(int32_t rank)>& body);

  std::unique_ptr<Communicator> Join(const char* group, std::vector<int32_t> members, int32_t rank,
                                     std::chrono::milliseconds timeout = kCommunicatorTimeout);
  // The communicator of all ranks. Lives until all of them are done: Gloo fails a receive that is
  // pending when the sender's end closes.
  std::shared_ptr<Communicator> JoinWorld(int32_t rank);

  // On the device of `rank`.
  at::Tensor Filled(int32_t rank, int64_t count, double value,
                    at::ScalarType type = at::kFloat) const;

  MeetingPlace place_;

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Communicator>> worlds_;  // guarded by mutex_
};

// For communicators on this process's CPU only: they account memory, and throw errors.
class CpuCommunicatorTest : public CommunicatorTest {};

bool AllAre(const at::Tensor& tensor, double value);

}  // namespace meshwright::worker

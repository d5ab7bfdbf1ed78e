// One suite for all communicators: communicator_conformance.cc holds the tests, and whoever links
// it instantiates them. Ranks are threads of this process, each with communicators of its own, as
// separate processes would have them.
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
  // Of ranks that share one, by rank.
  std::map<int32_t, std::unique_ptr<Device>> devices;
  // Of ranks that are timed; they stay where they are.
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
  // Where a rank's tensors are, and whether all ranks are on the first device there.
  c10::DeviceType device = c10::DeviceType::CPU;
  bool one_device = false;
};

// Another one, timed in the middle of a step.
Implementation Timed(std::string name, Connect connect);

inline constexpr auto kCommunicatorTimeout = std::chrono::milliseconds(20000);

class CommunicatorTest : public testing::TestWithParam<Implementation> {
 protected:
  static void SetUpTestSuite();

  int32_t ranks() const { return GetParam().ranks; }
  int32_t last() const { return ranks() - 1; }
  // 1 + 2 + ...: what adding up rank + 1 gives.
  double SumOfRanks() const { return ranks() * (ranks() + 1) / 2.0; }

  // Runs `body` on every rank at once; the first exception is thrown here.
  void OnEveryRank(const std::function<void(int32_t rank)>& body);

  std::unique_ptr<Communicator> Join(const char* group, std::vector<int32_t> members, int32_t rank,
                                     std::chrono::milliseconds timeout = kCommunicatorTimeout);
  // Of all ranks. It stays until all of them are done: Gloo cuts off who still receives when the
  // sender's end is gone.
  std::shared_ptr<Communicator> JoinWorld(int32_t rank);

  // On the device of `rank`.
  at::Tensor Filled(int32_t rank, int64_t count, double value,
                    at::ScalarType type = at::kFloat) const;

  MeetingPlace place_;

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<Communicator>> worlds_;  // guarded by mutex_
};

// What only those have that run on this process's CPU: an account of its memory, and errors that
// are thrown.
class CpuCommunicatorTest : public CommunicatorTest {};

bool AllAre(const at::Tensor& tensor, double value);

}  // namespace meshwright::worker

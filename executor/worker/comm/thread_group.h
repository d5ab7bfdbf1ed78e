// ThreadGroup is the state that the threads of one group share: its unfinished collectives and
// messages.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/stream_order.h"
#include "planner/spec/collective_kind.h"

namespace meshwright::worker {

// One rank's arguments of a collective.
struct CollectiveCall {
  planner::CollectiveKind kind = planner::CollectiveKind::kAllReduce;
  Reduction reduction = Reduction::kSum;  // of an all-reduce
  int32_t root = 0;                       // of a broadcast
  at::Tensor output;
  at::Tensor input;
  std::vector<int64_t> received_rows = {};  // of an all-to-all, by rank, like the next member
  std::vector<int64_t> sent_rows = {};
  StreamOrder::Mark ready = nullptr;  // when the tensors are ready
};

// Says whether an operation was issued. `issued` is set once, under the group's lock, and may be
// read without the lock.
struct Completion {
  std::atomic<bool> issued = false;
  StreamOrder::Mark end;  // of the issued operation

  void Set(StreamOrder::Mark at);
};

class ThreadGroup {
 public:
  ThreadGroup(std::string name, int32_t size, std::chrono::milliseconds timeout);

  int32_t size() const { return size_; }

  // In the following functions `order` is the order of the calling rank.

  // Adds `rank` to its next collective, which the last rank to arrive executes. Throws
  // CommunicationError if the ranks' calls don't match.
  std::shared_ptr<Completion> Post(int32_t rank, CollectiveCall call, StreamOrder& order);

  // Each adds one side of a message between two ranks. The second side to arrive copies the
  // message.
  std::shared_ptr<Completion> Send(int32_t from, int32_t to, const at::Tensor& tensor,
                                   StreamOrder& order);
  std::shared_ptr<Completion> Receive(int32_t from, int32_t to, const at::Tensor& tensor,
                                      StreamOrder& order);

  // Returns once the operation was issued. Throws CommunicationError if the group fails, or if the
  // timeout expires, which makes the group fail.
  void Wait(const Completion& completion, const char* operation);

  // Removes `rank`. Operations that still need this rank fail.
  void Leave(int32_t rank);

 private:
  struct Collective {
    std::vector<CollectiveCall> calls;  // by rank; empty tensors for ranks that have not arrived
    std::vector<bool> came;
    int32_t missing = 0;
    std::shared_ptr<Completion> completion;
  };
  struct Message {
    at::Tensor tensor;
    StreamOrder::Mark ready;
    std::shared_ptr<Completion> completion = std::make_shared<Completion>();
  };
  struct Channel {
    std::deque<Message> sends;
    std::deque<Message> receives;
  };

  Collective& CollectiveOf(int64_t sequence);
  void CheckFits(const Collective& collective, int32_t rank, const CollectiveCall& call);
  void CarryOut(Collective& collective, StreamOrder& order);
  void Match(Channel& channel, StreamOrder& order);
  // Calls `operation` through `order`. If it can't be issued, the group fails.
  StreamOrder::Mark Issue(StreamOrder& order, const std::vector<StreamOrder::Mark>& ready,
                          const std::vector<at::Tensor>& tensors,
                          const std::function<void()>& operation);
  // Makes the group fail, and drops everything under way.
  void Fail(const std::string& reason);
  void ThrowIfFailed(const char* operation) const;
  bool NeedsOneWhoLeft() const;

  const std::string name_;
  const int32_t size_;
  const std::chrono::milliseconds timeout_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string failure_;                 // empty while the group works
  std::vector<int64_t> next_sequence_;  // by rank: number of its next collective
  std::vector<bool> left_;
  std::map<int64_t, Collective> collectives_;
  std::map<std::pair<int32_t, int32_t>, Channel> channels_;  // by sender and receiver
};

}  // namespace meshwright::worker

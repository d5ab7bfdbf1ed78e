// A Communicator between threads of one process, which are several ranks in a test or on one
// device.
//
// Tensors are copied, without sockets. The last rank to arrive executes a collective; the second
// side to arrive executes a message. Sums are in rank order, so results don't depend on timing. As
// in other implementations, a rank that leaves or stays away makes all operations that wait for it
// fail. On a GPU Wait() blocks the thread until all ranks have issued their part, and the stream
// until the operation is done.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device.h"
#include "executor/worker/comm/stream_order.h"

namespace meshwright::worker {

class ThreadGroup;

// ThreadHub is where the ranks of a run meet. REQUIRES: the hub outlives their communicators.
class ThreadHub {
 public:
  ThreadHub();
  virtual ~ThreadHub();

  // Returns the communicator by which global rank `rank` takes part in `group`, without waiting for
  // other ranks. Each member joins a group once. `order` orders the rank's work. Virtual, so that
  // modules call the one implementation in the executable. Throws CommunicationError if `rank` is
  // not a member.
  virtual std::unique_ptr<Communicator> Join(const GroupSpec& group, int32_t rank,
                                             std::shared_ptr<StreamOrder> order);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<ThreadGroup>> groups_;
};

}  // namespace meshwright::worker

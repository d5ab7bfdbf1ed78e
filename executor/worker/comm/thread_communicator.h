// ThreadHub makes Communicators between threads of one process. Each thread is a rank, in a test or
// on a device that ranks share.
//
// Tensors are copied, without sockets. The last rank to arrive executes a collective, and the
// second side to arrive executes a message. Sums are in rank order, so that results don't depend on
// timing. As in other implementations, all operations that wait for a rank fail if that rank leaves
// or does not arrive in time. On a GPU, Wait() blocks the thread until all ranks have issued their
// part, and the stream until the operation is done.
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

// All ranks of a run join the groups of one hub. REQUIRES: the hub outlives their communicators.
class ThreadHub {
 public:
  ThreadHub();
  virtual ~ThreadHub();

  // Returns the communicator of global rank `rank` in `group`, without waiting for other ranks.
  // Each member joins a group once. `order` orders the rank's work. Throws CommunicationError if
  // `rank` is not a member. The function is virtual, so that modules call the one implementation in
  // the executable.
  virtual std::unique_ptr<Communicator> Join(const GroupSpec& group, int32_t rank,
                                             std::shared_ptr<StreamOrder> order);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<ThreadGroup>> groups_;
};

}  // namespace meshwright::worker

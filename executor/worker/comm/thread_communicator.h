// Communicator between threads of one process: several ranks in a test, or on one device.
//
// Tensors are handed over by copy, without sockets: a collective is carried out by the thread of
// the rank that comes last, a message by that of whichever side comes second. Sums go in rank
// order, so results do not depend on who is late. Like with the others, a rank that leaves or stays
// away fails everyone who waits for it. On a device Wait() holds the thread up until all ranks have
// issued their part, and the stream until the operation is done.
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

// Where the ranks of a run meet. Outlives their communicators.
class ThreadHub {
 public:
  ThreadHub();
  virtual ~ThreadHub();

  // The communicator of `rank` (of the whole run) in `group`, which it is part of. Returns at once;
  // each rank joins a group once. `order` is that of the rank's work. Virtual, so that a module
  // reaches the one implementation there is, in the executable.
  virtual std::unique_ptr<Communicator> Join(const GroupSpec& group, int32_t rank,
                                             std::shared_ptr<StreamOrder> order);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<ThreadGroup>> groups_;
};

}  // namespace meshwright::worker

// Communicator between threads of one process: several ranks in a test, or on one device.
//
// Tensors are handed over by copy, without sockets: a collective
// happens on the thread of the rank that comes last, a message on that of whichever side comes
// second. Sums go in rank order, so results do not depend on who is late. Like with the others, a
// rank that leaves or stays away fails everyone who waits for it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "executor/worker/communicator.h"
#include "executor/worker/device.h"

namespace meshwright {

class ThreadGroup;

// Where the ranks of a run meet. Outlives their communicators.
class ThreadHub {
 public:
  ThreadHub();
  ~ThreadHub();

  // The communicator of `rank` (of the whole run) in `group`, which it is part of. Returns at once;
  // each rank joins a group once.
  std::unique_ptr<Communicator> Join(const GroupSpec& group, int32_t rank);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<ThreadGroup>> groups_;
};

}  // namespace meshwright

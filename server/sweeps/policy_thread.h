// PolicyThread answers which candidates of a sweep to run next on a thread of its own, since that
// takes longer than the engine may wait.
#pragma once

#include <functional>

#include "base/system/work_queue.h"
#include "server/engine/choosing.h"

namespace meshwright::server {

class PolicyThread {
 public:
  using Done = std::function<void(ChoiceMade)>;

  PolicyThread();

  // Calls `done` with the answer on the policy's thread, from where it may ask again. Drops a
  // question that comes after Stop().
  void Ask(ChoiceQuestion question, Done done);
  // Returns once every question is answered, and those that the answers led to.
  void Flush() { queue_.Flush(); }
  // Drops the waiting questions, and returns once the running one is answered.
  void Stop();

 private:
  struct Asked {
    ChoiceQuestion question;
    Done done;
  };

  WorkQueue<Asked> queue_;
};

}  // namespace meshwright::server

// PolicyThread decides which candidates of a sweep run next, on a thread of its own, since a
// decision takes longer than the engine may wait.
#pragma once

#include <functional>

#include "base/system/work_queue.h"
#include "server/engine/choosing.h"

namespace meshwright::server {

class PolicyThread {
 public:
  using Done = std::function<void(ChoiceMade)>;

  PolicyThread();

  // Calls `done` with the answer, on the policy's thread. `done` may ask again. A question that
  // comes after Stop() is dropped.
  void Ask(ChoiceQuestion question, Done done);
  // Returns once every question is answered, including questions to which the answers led.
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

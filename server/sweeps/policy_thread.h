// PolicyThread answers, beside the engine, which candidates of a sweep to run next: that takes
// longer than the engine's decisions may wait.
#pragma once

#include <functional>

#include "base/system/work_queue.h"
#include "server/engine/choosing.h"

namespace meshwright::server {

class PolicyThread {
 public:
  using Done = std::function<void(ChoiceMade)>;

  PolicyThread();

  // Calls `done` with the answer on the policy's thread, from where it may ask again. A question
  // that comes after Stop() is dropped.
  void Ask(ChoiceQuestion question, Done done);
  // Returns once every question is answered, and those that the answers led to.
  void Flush() { queue_.Flush(); }
  // Drops the questions that wait, and returns once the one that runs is answered.
  void Stop();

 private:
  struct Asked {
    ChoiceQuestion question;
    Done done;
  };

  WorkQueue<Asked> queue_;
};

}  // namespace meshwright::server

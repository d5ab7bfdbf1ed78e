// The thread that answers which candidates of a sweep to run next, beside the engine, whose
// decisions don't wait for it.
#pragma once

#include <deque>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/engine/choosing.h"

namespace meshwright::server {

class Chooser {
 public:
  using Done = std::function<void(ChoiceMade)>;

  Chooser();
  ~Chooser() { Stop(); }

  // `done` hears the answer on the chooser's thread; it may ask again. Not once the chooser has
  // stopped.
  void Ask(ChoiceQuestion question, Done done);
  // Returns once every question is answered, those among them that answers led to.
  void Flush();
  // Drops what waits, and returns once what runs has ended.
  void Stop();

 private:
  struct Asked {
    ChoiceQuestion question;
    Done done;
  };

  void Run();
  bool HasWorkOrStops() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stopped_ || !asked_.empty();
  }
  bool IsIdle() const ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    return stopped_ || (asked_.empty() && !is_busy_);
  }

  absl::Mutex mutex_;
  bool stopped_ ABSL_GUARDED_BY(mutex_) = false;
  bool is_busy_ ABSL_GUARDED_BY(mutex_) = false;
  std::deque<Asked> asked_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;  // the last member: it uses all others
};

}  // namespace meshwright::server

// WaitForEnd() waits a limited time for the end of a child process. A child that is blocked in a
// driver may not even end after SIGKILL.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <vector>

namespace meshwright::trial {

// The system calls with which WaitForEnd() waits.
struct ProcessWait {
  using Clock = std::chrono::steady_clock;

  std::function<pid_t(pid_t pid, int* status, int options)> waitpid;
  std::function<Clock::time_point()> now;
  // Returns after this time, or earlier if something may have happened.
  std::function<void(std::chrono::milliseconds)> pause;
};

// Waits at most `limit` for the end of the child `pid`, reaps it and sets `status` as waitpid()
// does. Tries at least once. Returns false if the child has not ended.
bool WaitForEnd(pid_t pid, std::chrono::milliseconds limit, const ProcessWait& wait, int& status);

// LeftProcesses is a thread-safe list of child processes that no other code waits for. Reap() reaps
// those of them that have ended, so that no zombies remain.
class LeftProcesses {
 public:
  void Add(pid_t pid);
  void Reap(const ProcessWait& wait);
  std::vector<pid_t> pids() const;

 private:
  mutable std::mutex mutex_;
  std::vector<pid_t> pids_;
};

}  // namespace meshwright::trial

// The end of child processes. One that a driver holds may not come to it, not even after SIGKILL.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <mutex>
#include <vector>

namespace meshwright::trial {

// What waiting needs of the system.
struct ProcessWait {
  using Clock = std::chrono::steady_clock;

  std::function<pid_t(pid_t pid, int* status, int options)> waitpid;
  std::function<Clock::time_point()> now;
  // Returns after that time, or before it where something may have happened.
  std::function<void(std::chrono::milliseconds)> pause;
};

// Reaps `pid`, a child, for no longer than `limit`; at least once. False where it did not end.
bool WaitForEnd(pid_t pid, std::chrono::milliseconds limit, const ProcessWait& wait, int& status);

// Children that nobody waits for any more. They end when they can, and are then reaped by whoever
// calls Reap(), so that they don't stay zombies for as long as this process lives.
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

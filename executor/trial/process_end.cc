#include "executor/trial/process_end.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

namespace meshwright::trial {
namespace {

constexpr std::chrono::milliseconds kReapInterval(50);

// A child reaped by someone else has ended too; its status is lost.
bool Ended(pid_t pid, const ProcessWait& wait, int& status) {
  const pid_t reaped = wait.waitpid(pid, &status, WNOHANG);
  if (reaped == pid) return true;
  if (reaped >= 0 || errno != ECHILD) return false;
  status = 0;
  return true;
}

}  // namespace

bool WaitForEnd(pid_t pid, std::chrono::milliseconds limit, const ProcessWait& wait, int& status) {
  const ProcessWait::Clock::time_point until = wait.now() + limit;
  while (!Ended(pid, wait, status)) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - wait.now());
    if (left.count() <= 0) return false;
    wait.pause(std::min(left, kReapInterval));
  }
  return true;
}

void LeftProcesses::Add(pid_t pid) {
  const std::lock_guard lock(mutex_);
  pids_.push_back(pid);
}

void LeftProcesses::Reap(const ProcessWait& wait) {
  const std::lock_guard lock(mutex_);
  int status = 0;
  std::erase_if(pids_, [&](pid_t pid) { return Ended(pid, wait, status); });
}

std::vector<pid_t> LeftProcesses::pids() const {
  const std::lock_guard lock(mutex_);
  return pids_;
}

}  // namespace meshwright::trial

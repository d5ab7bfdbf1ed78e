// EndDescendants() ends every process below the calling one, in whatever session or process group
// it is.
//
// A launcher such as torchrun gives each rank a session of its own, so that neither a signal to a
// process group nor a parent-death signal reaches the ranks. A child subreaper becomes the parent
// of every process below it whose own parent has ended, so no process escapes when its parent ends.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace meshwright::guard {

struct ProcessId {
  pid_t pid = 0;
  uint64_t start_time =
      0;  // in clock ticks after boot; tells a process from a later one of its pid

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// Returns the processes below `root`, zombies included. REQUIRES: /proc is mounted.
std::vector<ProcessId> DescendantsOf(pid_t root);

// Makes the calling process a child subreaper. Returns false if the system does not allow it.
bool BecomeSubreaper();

// Kills all descendants of the calling process and reaps them, until there are none. If that takes
// longer than `patience`, calls `still_there` once, with the pid of a process that remains. A
// process that is stuck in a driver ends only when the driver releases it. REQUIRES: the calling
// process is a child subreaper, and no other thread of it waits for children.
void EndDescendants(std::chrono::milliseconds patience,
                    const std::function<void(pid_t)>& still_there);

}  // namespace meshwright::guard

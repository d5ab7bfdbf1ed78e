// What a guard and an agent do with the control group of one run (Linux's cgroup v2), which is
// named by the path of its folder.
//
// A process stays in its group whatever session it starts and whichever parent it loses, so a group
// is ended as a whole.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace meshwright::guard {

// Writes `text` into a file of a group, such as cgroup.procs. Returns 0 or errno.
int WriteControl(const std::string& file, std::string_view text);

// Moves the calling process into the group. Returns 0 or errno.
int EnterCgroup(const std::string& group);

// Bounds the memory that the processes of the group hold together; none of it is swapped out. If
// they need more, the kernel kills all of them. Returns Unavailable if the limit can't be set.
absl::Status LimitMemory(const std::string& group, int64_t bytes);

// Returns a sentence if the kernel killed processes of the group because the group reached its
// limit, an empty text otherwise. What the kernel kills because the whole machine ran out of memory
// does not count.
std::string MemoryLimitKills(const std::string& group);

// Kills all processes of the group and of groups below it. Does not wait.
void KillCgroup(const std::string& group);

// Kills all processes of the group, waits at most `patience` for their end, and removes the group
// with the groups below it. Returns whether the group is gone; one that was never there is.
bool RemoveCgroup(const std::string& group, std::chrono::milliseconds patience);

}  // namespace meshwright::guard

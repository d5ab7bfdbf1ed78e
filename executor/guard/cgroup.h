// These functions let a guard and an agent manage the control group of one run (Linux's cgroup v2).
// A group is named by the path of its folder.
//
// A process stays in its group even if it starts a session of its own or loses its parent. Killing
// the group therefore kills every process of the run.
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

// Limits the memory that the processes of the group hold together, and lets none of it be swapped
// out. If they need more, the kernel kills all of them. Returns Unavailable if the limit can't be
// set.
absl::Status LimitMemory(const std::string& group, int64_t bytes);

// If the kernel killed processes of the group because the group reached its limit, returns a
// message that says so, and otherwise an empty text. Processes that the kernel killed because the
// whole machine ran out of memory do not count.
std::string MemoryLimitKills(const std::string& group);

// Kills all processes of the group and of groups below it. Does not wait.
void KillCgroup(const std::string& group);

// Kills all processes of the group, waits at most `patience` for their end, and removes the group
// with the groups below it. Returns true if the group is gone, or if it never existed.
bool RemoveCgroup(const std::string& group, std::chrono::milliseconds patience);

}  // namespace meshwright::guard

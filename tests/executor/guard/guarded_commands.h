// Commands below a guard, for tests of what becomes of their processes.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "executor/guard/guarded_process.h"

namespace meshwright::guard {

inline constexpr std::chrono::milliseconds kLimit(20'000);

// A command whose ranks are in sessions of their own, as torchrun's are, with grandchildren that
// lost their parents. It prints the ids of four processes.
inline constexpr char kRanks[] =
    "setsid sh -c 'echo $$; sleep 600' & setsid sh -c 'echo $$; sleep 600' & "
    "sh -c 'setsid sleep 600 & echo $!'; sh -c 'nohup sleep 600 >/dev/null 2>&1 & echo $!'; wait";
inline constexpr size_t kRankCount = 4;

// A launch of the script below the guard that is built for tests.
GuardedLaunch Shell(const std::string& script);
GuardedProcess Start(const GuardedLaunch& launch);

// Whether the condition holds within kLimit.
bool Eventually(const std::function<bool()>& holds);
// Runs to the end. Returns the output.
std::string Finish(GuardedProcess& process);
// Reads until the command has printed `count` process ids, one a line.
std::vector<pid_t> ReadPids(GuardedProcess& process, size_t count);
// Whether a process runs; a zombie does not.
bool Runs(pid_t pid);
// Whether all of them end within kLimit.
bool AllEnd(const std::vector<pid_t>& pids);

}  // namespace meshwright::guard

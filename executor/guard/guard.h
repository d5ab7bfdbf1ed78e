// GuardMain() is the guard. It stands between an agent and a command of the user's framework, and
// ends every process that the command started.
//
// The guard consists of two processes, either of which can do so alone. The inner process starts
// the command. Both are child subreapers, so each is an ancestor of every process of the command
// for as long as it lives. Each ends these processes when
// - the command ends;
// - the agent closes its end of the control pipe, or ends in any way;
// - the other process of the guard ends in any way;
// - it gets SIGTERM, SIGINT or SIGHUP.
// The guard ends after all of these processes have ended.
//
// If the agent has made a control group for the command, the command is in the group and the guard
// is not. Killing the group then also ends processes that the guard might not find. If the group's
// memory limit ends the command, the guard is still there to report this, as the last line of the
// command's output.
//
// The agent's side of this protocol is GuardedProcess (executor/guard/guarded_process.h).
#pragma once

namespace meshwright::guard {

inline constexpr char kGuardCommand[] = "guard";
// Descriptor from which the guard reads. The agent holds the other end open while the command may
// run.
inline constexpr int kControlFd = 3;
// Descriptor to which the guard writes its reports, one line each. Its end of file means that both
// processes of the guard have ended.
inline constexpr int kReportFd = 4;

// The first words of the reports. Each is followed by a number: an errno, exit code, signal or pid.
inline constexpr char kCannotStart[] = "cannot_start";  // errno
inline constexpr char kExited[] = "exited";             // the command's exit code
inline constexpr char kSignalled[] = "signalled";       // the signal that ended the command
inline constexpr char kStillThere[] = "still_there";    // pid of a process that does not end

// Runs the guard. `argv` is PROGRAM guard MEMORY_LIMIT_BYTES CGROUP COMMAND [ARGUMENT]…. The limit
// is the most private memory (RLIMIT_DATA) of each process of the command, 0 for no limit. CGROUP
// is the folder of the command's control group (executor/guard/cgroup.h), an empty text for none.
// Returns the exit code: 0, or 2 for wrong arguments. REQUIRES: the process has one thread.
int GuardMain(int argc, char** argv);

}  // namespace meshwright::guard

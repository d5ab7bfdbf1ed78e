#include "executor/guard/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/system/unique_fd.h"
#include "executor/guard/cgroup.h"
#include "executor/guard/descendants.h"

namespace meshwright::guard {
namespace {

// A killed process that is still there after this time is reported.
constexpr auto kPatience = std::chrono::milliseconds(5000);
constexpr int kCannotExecute = 127;

struct Command {
  char** argv;
  uint64_t memory_limit_bytes;
  std::string cgroup;  // empty: none
};

void Report(std::string_view word, int number) {
  const std::string line = absl::StrCat(std::string(word), " ", number, "\n");
  // If the agent is gone, nobody reads the line.
  [[maybe_unused]] const ssize_t written = ::write(kReportFd, line.data(), line.size());
}

// Kills the group first: no process that is started meanwhile escapes from that.
void EndAll(const Command& command) {
  if (!command.cgroup.empty()) KillCgroup(command.cgroup);
  EndDescendants(kPatience, [](pid_t pid) { Report(kStillThere, pid); });
}

// A pipe whose one end tells its reader by an end of file that the writer has ended.
struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

std::optional<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{.read = UniqueFd(ends[0]), .write = UniqueFd(ends[1])};
}

// The signals that a guard reads instead of being interrupted by them.
sigset_t WatchedSignals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
  return signals;
}

// Starts a watch of the signals, which a child inherits as blocked.
UniqueFd WatchSignals() {
  const sigset_t signals = WatchedSignals();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Returns whether `fd` has an end of file. Whatever else is read is ignored.
bool HasEnded(int fd) {
  std::array<char, 64> ignored;
  const ssize_t size = ::read(fd, ignored.data(), ignored.size());
  return size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN);
}

// Reads the signals that came. Returns whether one of them asks for the end.
bool SignalledToEnd(int signals) {
  bool end = false;
  signalfd_siginfo info;
  while (::read(signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    end |= info.ssi_signo != SIGCHLD;
  }
  return end;
}

// Reaps children until `child` is among them. Returns its status once it has ended.
std::optional<int> StatusOf(pid_t child) {
  while (true) {
    int status = 0;
    const pid_t reaped = ::waitpid(-1, &status, WNOHANG);
    if (reaped == child) return status;
    if (reaped == 0 || (reaped < 0 && errno != EINTR)) return std::nullopt;
  }
}

// Waits until `child` has ended or there is a reason to end everything. Returns the child's status
// if it has ended. `peer` is the descriptor that tells of the other guard's end, -1 if there is
// none.
std::optional<int> WatchChild(pid_t child, int signals, int peer) {
  while (true) {
    if (const std::optional<int> status = StatusOf(child)) return status;
    std::array<pollfd, 3> descriptors = {{{.fd = signals, .events = POLLIN, .revents = 0},
                                          {.fd = kControlFd, .events = POLLIN, .revents = 0},
                                          {.fd = peer, .events = POLLIN, .revents = 0}}};
    if (::poll(descriptors.data(), descriptors.size(), -1) < 0) continue;
    if (descriptors[0].revents != 0 && SignalledToEnd(signals)) return std::nullopt;
    if (descriptors[1].revents != 0 && HasEnded(kControlFd)) return std::nullopt;
    if (descriptors[2].revents != 0 && HasEnded(peer)) return std::nullopt;
  }
}

void LimitData(uint64_t bytes) {
  if (bytes == 0) return;
  const rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  ::setrlimit(RLIMIT_DATA, &limit);
}

// Enters the command's group, if it has one. Returns whether the command may run.
bool EnterGroup(const Command& command) {
  if (!command.cgroup.empty()) errno = EnterCgroup(command.cgroup);
  return command.cgroup.empty() || errno == 0;
}

// In the command's process: becomes the command, or writes errno to `failure`.
[[noreturn]] void Execute(const Command& command, pid_t guard, int failure) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == guard && EnterGroup(command)) {
    LimitData(command.memory_limit_bytes);
    const sigset_t signals = WatchedSignals();
    ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
    ::execvp(command.argv[0], command.argv);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure, &error, sizeof error);
  ::_exit(kCannotExecute);
}

// Starts the command. Returns nullopt, after a report, if it can't be started.
std::optional<pid_t> StartCommand(const Command& command) {
  std::optional<Pipe> failure = MakePipe();
  const pid_t guard = ::getpid();
  const pid_t pid = failure ? ::fork() : -1;
  if (pid == 0) Execute(command, guard, failure->write.get());
  if (pid < 0) {
    Report(kCannotStart, errno);
    return std::nullopt;
  }
  failure->write.Close();
  int error = 0;
  if (::read(failure->read.get(), &error, sizeof error) != static_cast<ssize_t>(sizeof error)) {
    return pid;
  }
  Report(kCannotStart, error);
  return std::nullopt;
}

// Ends the output of a command that its group's limit ended with a sentence on that.
void TellMemoryLimit(const Command& command) {
  const std::string sentence = MemoryLimitKills(command.cgroup);
  if (sentence.empty()) return;
  // The command's last line may lack its end.
  const std::string line = absl::StrCat("\n", sentence, "\n");
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, line.data(), line.size());
}

// The inner process of the guard.
void GuardCommand(const Command& command, int peer) {
  BecomeSubreaper();
  const UniqueFd signals = WatchSignals();
  std::optional<int> status;
  if (const std::optional<pid_t> pid = StartCommand(command)) {
    status = WatchChild(*pid, signals.get(), peer);
    if (status && WIFEXITED(*status)) Report(kExited, WEXITSTATUS(*status));
    if (status && WIFSIGNALED(*status)) Report(kSignalled, WTERMSIG(*status));
  }
  EndAll(command);
  if (command.cgroup.empty()) return;
  if (status) TellMemoryLimit(command);
  RemoveCgroup(command.cgroup, kPatience);
}

}  // namespace

int GuardMain(int argc, char** argv) {
  constexpr int kLimitArgument = 2;
  constexpr int kGroupArgument = 3;
  constexpr int kCommandArgument = 4;
  Command command{};
  if (argc <= kCommandArgument ||
      !absl::SimpleAtoi(argv[kLimitArgument], &command.memory_limit_bytes)) {
    std::fprintf(stderr,
                 "usage: meshwright guard MEMORY_LIMIT_BYTES CGROUP COMMAND [ARGUMENT]...\n");
    return 2;
  }
  command.cgroup = argv[kGroupArgument];
  command.argv = argv + kCommandArgument;
  for (const int fd : {kControlFd, kReportFd}) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  if (!BecomeSubreaper()) Report(kCannotStart, errno);
  std::optional<Pipe> life = MakePipe();
  const UniqueFd signals = WatchSignals();
  const pid_t inner = life ? ::fork() : -1;
  if (inner == 0) {
    life->write.Close();
    GuardCommand(command, life->read.get());
    ::_exit(0);
  }
  if (inner < 0) {
    Report(kCannotStart, errno);
    return 0;
  }
  life->read.Close();
  WatchChild(inner, signals.get(), /*peer=*/-1);
  EndAll(command);
  // The inner process has removed the group unless it was killed.
  if (!command.cgroup.empty()) RemoveCgroup(command.cgroup, kPatience);
  return 0;
}

}  // namespace meshwright::guard

#include "executor/guard/guarded_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/status_macros.h"
#include "executor/guard/guard.h"

namespace meshwright::guard {
namespace {

// Above all targets, so that no dup2() overwrites a source that is still needed.
constexpr int kFirstSource = 64;
// ReadOutput() returns at most about this much at once, so that output can't fill the memory.
constexpr size_t kMostOutputBytes = 1 << 20;

absl::Status ErrnoStatus(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(error)));
}

struct PipeEnds {
  UniqueFd own;
  UniqueFd guards;
};

// The guard reads from its end if `guard_reads`, and otherwise writes to it.
absl::StatusOr<PipeEnds> MakeGuardPipe(bool guard_reads) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoStatus("pipe", errno);
  const UniqueFd read(ends[0]);
  const UniqueFd write(ends[1]);
  PipeEnds pipe;
  const auto up = [](const UniqueFd& fd) {
    return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstSource));
  };
  pipe.own = up(guard_reads ? write : read);
  pipe.guards = up(guard_reads ? read : write);
  if (!pipe.own.is_open() || !pipe.guards.is_open()) return ErrnoStatus("fcntl", errno);
  ::fcntl(pipe.own.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

absl::StatusOr<pid_t> Spawn(const GuardedLaunch& launch, int control, int reports, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  const absl::Cleanup destroy = [&] {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  };
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, control, kControlFd);
  ::posix_spawn_file_actions_adddup2(&actions, reports, kReportFd);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kReportFd + 1);
  ::posix_spawn_file_actions_addchdir_np(&actions, launch.folder.c_str());
  sigset_t all_signals;
  sigset_t no_signals;
  ::sigfillset(&all_signals);
  ::sigemptyset(&no_signals);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setsigdefault(&attributes, &all_signals);
  ::posix_spawnattr_setsigmask(&attributes, &no_signals);
  std::vector<std::string> arguments = {launch.guard, kGuardCommand,
                                        absl::StrCat(launch.memory_limit_bytes)};
  arguments.insert(arguments.end(), launch.argv.begin(), launch.argv.end());
  std::vector<std::string> environment = launch.environment;
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, launch.guard.c_str(), &actions, &attributes,
                                  Pointers(arguments).data(), Pointers(environment).data());
  if (error != 0) return ErrnoStatus(absl::StrCat(launch.guard, " can't be started"), error);
  return pid;
}

}  // namespace

absl::StatusOr<GuardedProcess> GuardedProcess::Start(const GuardedLaunch& launch) {
  ASSIGN_OR_RETURN(PipeEnds control, MakeGuardPipe(/*guard_reads=*/true));
  ASSIGN_OR_RETURN(PipeEnds reports, MakeGuardPipe(/*guard_reads=*/false));
  ASSIGN_OR_RETURN(PipeEnds output, MakeGuardPipe(/*guard_reads=*/false));
  GuardedProcess process;
  ASSIGN_OR_RETURN(process.pid_,
                   Spawn(launch, control.guards.get(), reports.guards.get(), output.guards.get()));
  process.control_ = std::move(control.own);
  process.reports_ = std::move(reports.own);
  process.output_ = std::move(output.own);
  return process;
}

GuardedProcess::~GuardedProcess() {
  constexpr std::chrono::milliseconds kLongestEnd(5000);
  if (reports_.is_open()) End(kLongestEnd);
}

void GuardedProcess::AddDescriptors(std::vector<pollfd>& descriptors) const {
  for (const UniqueFd* fd : {&output_, &reports_}) {
    if (fd->is_open()) descriptors.push_back({.fd = fd->get(), .events = POLLIN, .revents = 0});
  }
}

std::string GuardedProcess::ReadOutput() {
  std::string text;
  std::array<char, 16384> buffer;
  while (output_.is_open() && text.size() < kMostOutputBytes) {
    const ssize_t size = ::read(output_.get(), buffer.data(), buffer.size());
    if (size > 0) {
      text.append(buffer.data(), static_cast<size_t>(size));
    } else if (size == 0) {
      output_.Close();
    } else if (errno != EINTR) {
      break;
    }
  }
  return text;
}

void GuardedProcess::TakeReport(const std::string& line) {
  const std::pair<std::string, std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 1));
  int number = 0;
  if (!absl::SimpleAtoi(words.second, &number)) return;
  if (words.first == kStillThere) left_ = number;
  // What the guard says of a command that it killed is not how the command ended by itself.
  if (command_end_.kind != EndKind::kLost) return;
  if (words.first == kExited) command_end_ = {EndKind::kExited, number};
  if (words.first == kSignalled) command_end_ = {EndKind::kSignalled, number};
  if (words.first == kCannotStart) command_end_ = {EndKind::kCannotStart, number};
}

void GuardedProcess::ReadReports() {
  std::array<char, 256> buffer;
  while (reports_.is_open()) {
    const ssize_t size = ::read(reports_.get(), buffer.data(), buffer.size());
    if (size > 0) {
      partial_report_.append(buffer.data(), static_cast<size_t>(size));
    } else if (size == 0) {
      reports_.Close();
    } else if (errno != EINTR) {
      break;
    }
  }
  for (size_t end; (end = partial_report_.find('\n')) != std::string::npos;) {
    TakeReport(partial_report_.substr(0, end));
    partial_report_.erase(0, end + 1);
  }
}

bool GuardedProcess::TryReap() {
  ReadReports();
  if (reports_.is_open()) return false;
  if (!reaped_) {
    int status = 0;
    // Both processes of the guard have closed their ends, so this takes no time.
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    reaped_ = true;
  }
  return true;
}

bool GuardedProcess::End(std::chrono::milliseconds limit) {
  Kill();
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!TryReap()) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd report = {.fd = reports_.get(), .events = POLLIN, .revents = 0};
    ::poll(&report, 1, static_cast<int>(left.count()));
  }
  return true;
}

}  // namespace meshwright::guard

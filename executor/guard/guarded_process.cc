#include "executor/guard/guarded_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/system/spawn.h"
#include "base/text/status_macros.h"
#include "executor/guard/guard.h"

namespace meshwright::guard {
namespace {

// ReadOutput() returns at most about this much at once, so that output can't fill the memory.
constexpr size_t kMostOutputBytes = 1 << 20;

absl::StatusOr<pid_t> SpawnGuard(const GuardedLaunch& launch, const UniqueFd& control,
                                 const UniqueFd& reports, const UniqueFd& output) {
  const UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const UniqueFd input(::fcntl(null.get(), F_DUPFD_CLOEXEC, kFirstSpawnSource));
  std::vector<std::string> arguments = {launch.guard, kGuardCommand,
                                        absl::StrCat(launch.memory_limit_bytes), launch.cgroup};
  arguments.insert(arguments.end(), launch.argv.begin(), launch.argv.end());
  return Spawn({.path = launch.guard,
                .arguments = std::move(arguments),
                .environment = launch.environment,
                .descriptors = {{input.get(), STDIN_FILENO},
                                {output.get(), STDOUT_FILENO},
                                {output.get(), STDERR_FILENO},
                                {control.get(), kControlFd},
                                {reports.get(), kReportFd}},
                .folder = launch.folder});
}

}  // namespace

absl::StatusOr<GuardedProcess> GuardedProcess::Start(const GuardedLaunch& launch) {
  ASSIGN_OR_RETURN(SpawnPipe control, MakeSpawnPipe());
  ASSIGN_OR_RETURN(SpawnPipe reports, MakeSpawnPipe());
  ASSIGN_OR_RETURN(SpawnPipe output, MakeSpawnPipe());
  for (const SpawnPipe* pipe : {&reports, &output}) {
    ::fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK);
  }
  GuardedProcess process;
  ASSIGN_OR_RETURN(process.pid_, SpawnGuard(launch, control.read, reports.write, output.write));
  process.control_ = std::move(control.write);
  process.reports_ = std::move(reports.read);
  process.output_ = std::move(output.read);
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
  ReadAvailable(output_, kMostOutputBytes, text);
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
  ReadAvailable(reports_, partial_report_.max_size(), partial_report_);
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

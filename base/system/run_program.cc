#include "base/system/run_program.h"

// glibc 2.36 declares pidfd_open without C linkage.
extern "C" {
#include <sys/pidfd.h>
}

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/system/memory_file.h"

namespace meshwright {
namespace {

using Clock = std::chrono::steady_clock;

// A killed program may take this long to end.
constexpr auto kEndGrace = std::chrono::seconds(2);

absl::Status ErrnoStatus(absl::string_view what, int error) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(error)));
}

constexpr size_t kMostOutputBytes = 1 << 20;
constexpr off_t kTailBytes = 2000;

struct Streams {
  int input;
  int output;
  int errors;
};

absl::StatusOr<pid_t> Spawn(const std::vector<std::string>& arguments, const Streams& streams) {
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  const absl::Cleanup destroy = [&] { ::posix_spawn_file_actions_destroy(&actions); };
  ::posix_spawn_file_actions_adddup2(&actions, streams.input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, streams.output, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, streams.errors, STDERR_FILENO);
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv;
  argv.reserve(copies.size() + 1);
  for (std::string& copy : copies) argv.push_back(copy.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  if (error != 0) return ErrnoStatus(absl::StrCat(arguments[0], " can't be started"), error);
  return pid;
}

// Returns whether `fd` has something to read, or its end, before `until`.
bool WaitFor(int fd, Clock::time_point until) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    pollfd descriptor = {.fd = fd, .events = POLLIN, .revents = 0};
    const int ready =
        ::poll(&descriptor, 1, static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// Reads up to the end of the stream; false if that does not come before `until`.
bool ReadAll(int fd, Clock::time_point until, std::string& text) {
  std::array<char, 4096> buffer;
  while (WaitFor(fd, until)) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n == 0) return true;
    if (n > 0) {
      const size_t room = kMostOutputBytes - text.size();
      text.append(buffer.data(), std::min(static_cast<size_t>(n), room));
    }
    if (n < 0 && errno != EINTR) return true;
  }
  return false;
}

// Returns the end of what was written to `file`, after a colon; empty if nothing was.
std::string TailOf(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  if (size <= 0) return "";
  const off_t length = std::min(size, kTailBytes);
  std::string text(static_cast<size_t>(length), '\0');
  const ssize_t n = ::pread(file, text.data(), text.size(), size - length);
  text.resize(static_cast<size_t>(std::max<ssize_t>(n, 0)));
  absl::StripTrailingAsciiWhitespace(&text);
  return text.empty() ? "" : absl::StrCat(": ", text);
}

}  // namespace

absl::StatusOr<std::string> RunProgram(const std::vector<std::string>& arguments,
                                       double timeout_s) {
  return RunProgramOn("", arguments, timeout_s);
}

absl::StatusOr<std::string> RunProgramOn(std::string_view input,
                                         const std::vector<std::string>& arguments,
                                         double timeout_s) {
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(timeout_s));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoStatus("pipe", errno);
  const absl::Cleanup close_read = [&] { ::close(ends[0]); };
  absl::Cleanup close_write = [&] { ::close(ends[1]); };
  const absl::StatusOr<int> standard_input = MemoryFile("stdin", input);
  if (!standard_input.ok()) return standard_input.status();
  const absl::Cleanup close_input = [&] { ::close(*standard_input); };
  // A file rather than a pipe, so that a program which writes a lot there does not block.
  const absl::StatusOr<int> errors = MemoryFile("stderr", "");
  if (!errors.ok()) return errors.status();
  const absl::Cleanup close_errors = [&] { ::close(*errors); };
  const absl::StatusOr<pid_t> pid =
      Spawn(arguments, {.input = *standard_input, .output = ends[1], .errors = *errors});
  std::move(close_write).Invoke();
  if (!pid.ok()) return pid.status();
  const int exit_fd = ::pidfd_open(*pid, 0);
  const absl::Cleanup close_exit = [&] { ::close(exit_fd); };
  std::string text;
  const bool ended = ReadAll(ends[0], until, text) && WaitFor(exit_fd, until);
  if (!ended) ::kill(*pid, SIGKILL);
  int wait_status = 0;
  if (ended || WaitFor(exit_fd, Clock::now() + kEndGrace)) ::waitpid(*pid, &wait_status, 0);
  if (!ended) {
    return absl::DeadlineExceededError(
        absl::StrCat(arguments[0], " did not end within ", timeout_s, " s"));
  }
  if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0) return text;
  return absl::InternalError(
      WIFSIGNALED(wait_status)
          ? absl::StrCat(arguments[0], " was killed by signal ", WTERMSIG(wait_status))
          : absl::StrCat(arguments[0], " ended with exit code ", WEXITSTATUS(wait_status),
                         TailOf(*errors)));
}

}  // namespace meshwright

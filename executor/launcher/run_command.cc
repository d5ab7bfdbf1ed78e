#include "executor/launcher/run_command.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace meshwright::launcher {
namespace {

using Clock = std::chrono::steady_clock;

// Starts the program with its standard output in `out`. Returns -1 if it can't be started.
pid_t Spawn(const std::vector<std::string>& command, int out) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  pid_t pid = -1;
  const int error =
      ::posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

// Reads to the end of the stream; returns false if `deadline` comes first.
bool ReadUntil(int fd, Clock::time_point deadline, std::string& out) {
  std::array<char, 4096> buffer;
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
    const int count = left > 0 ? ::poll(&ready, 1, static_cast<int>(left)) : 0;
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n > 0) out.append(buffer.data(), static_cast<size_t>(n));
    if (n == 0) return true;
    if (n < 0 && errno != EINTR) return true;
  }
}

// Waits for the program's end: it may close its output and keep running.
bool WaitUntil(pid_t pid, Clock::time_point deadline, int& status) {
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    if (Clock::now() >= deadline) return false;
    ::usleep(1000);
  }
  return true;
}

}  // namespace

CommandEnd RunCommand(const std::vector<std::string>& command, std::chrono::milliseconds limit) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const Clock::time_point deadline = Clock::now() + limit;
  const pid_t pid = Spawn(command, ends[1]);
  ::close(ends[1]);
  CommandEnd end;
  if (pid > 0) {
    int status = 0;
    if (ReadUntil(ends[0], deadline, end.out) && WaitUntil(pid, deadline, status)) {
      end.kind = CommandEnd::Reason::kEnded;
      end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    } else {
      end.kind = CommandEnd::Reason::kTimedOut;
      ::kill(pid, SIGKILL);
      ::waitpid(pid, &status, 0);
    }
  }
  ::close(ends[0]);
  return end;
}

}  // namespace meshwright::launcher

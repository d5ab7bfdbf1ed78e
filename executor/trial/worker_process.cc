#include "executor/trial/worker_process.h"

// glibc 2.36 declares pidfd_open without C linkage.
extern "C" {
#include <sys/pidfd.h>
}

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/system/memory_file.h"
#include "base/system/spawn.h"
#include "base/text/status_macros.h"

namespace meshwright::trial {
namespace {

// Descriptor numbers inside the worker.
constexpr int kEventFd = 3;
constexpr int kListenFd = 4;

constexpr size_t kTailBytes = 4096;

// Workers of this process that were left running.
LeftProcesses& Left() {
  static LeftProcesses left;
  return left;
}

absl::Status ErrnoStatus(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

absl::StatusOr<UniqueFd> MoveUp(UniqueFd fd) {
  UniqueFd moved(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstSpawnSource));
  if (!moved.is_open()) return ErrnoStatus("fcntl");
  return moved;
}

// Returns a pipe whose read end does not block.
absl::StatusOr<SpawnPipe> MakePipe() {
  ASSIGN_OR_RETURN(SpawnPipe pipe, MakeSpawnPipe());
  if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return ErrnoStatus("fcntl");
  return pipe;
}

// Returns an anonymous file with `text`, positioned at its start.
absl::StatusOr<UniqueFd> FileWith(const std::string& text) {
  ASSIGN_OR_RETURN(const int file, MemoryFile("meshwright-plan", text));
  return MoveUp(UniqueFd(file));
}

std::vector<std::string> EnvironmentOf(const WorkerLaunch& launch) {
  const std::vector<std::string> own = {absl::StrCat("RANK=", launch.rank),
                                        absl::StrCat("LOCAL_RANK=", launch.local_rank),
                                        absl::StrCat("WORLD_SIZE=", launch.world_size),
                                        absl::StrCat("LOCAL_WORLD_SIZE=", launch.local_world_size),
                                        "MASTER_ADDR=127.0.0.1",
                                        absl::StrCat("MASTER_PORT=", launch.master_port),
                                        absl::StrCat("MESHWRIGHT_ADDRESS=", launch.address),
                                        absl::StrCat("MESHWRIGHT_EVENT_FD=", kEventFd),
                                        absl::StrCat("MESHWRIGHT_PARENT_PID=", ::getpid())};
  std::vector<std::string> all = own;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const absl::string_view text = *entry;
    bool replaced = false;
    for (const std::string& variable : own) {
      replaced |= absl::StartsWith(text, variable.substr(0, variable.find('=') + 1));
    }
    if (!replaced) all.emplace_back(text);
  }
  return all;
}

// The child's ends of the worker's descriptors.
struct ChildEnds {
  int input;
  int output;
  int events;
  std::optional<int> listener;
};

absl::StatusOr<pid_t> SpawnWith(const WorkerLaunch& launch, const ChildEnds& ends) {
  SpawnRequest request{.path = launch.path,
                       .arguments = {launch.path},
                       .environment = EnvironmentOf(launch),
                       .descriptors = {{ends.input, STDIN_FILENO},
                                       {ends.output, STDOUT_FILENO},
                                       {ends.output, STDERR_FILENO},
                                       {ends.events, kEventFd}}};
  if (ends.listener.has_value()) {
    request.descriptors.emplace_back(*ends.listener, kListenFd);
    request.arguments.insert(request.arguments.end(), {"--listen-fd", std::to_string(kListenFd)});
  }
  const absl::StatusOr<pid_t> pid = Spawn(std::move(request));
  if (pid.ok()) return pid;
  return absl::UnavailableError(absl::StrCat("the worker ", pid.status().message()));
}

}  // namespace

absl::StatusOr<WorkerProcess> WorkerProcess::Spawn(const WorkerLaunch& launch) {
  ASSIGN_OR_RETURN(UniqueFd input, FileWith(launch.plan));
  ASSIGN_OR_RETURN(SpawnPipe output, MakePipe());
  ASSIGN_OR_RETURN(SpawnPipe events, MakePipe());
  ChildEnds ends{.input = input.get(),
                 .output = output.write.get(),
                 .events = events.write.get(),
                 .listener = std::nullopt};
  UniqueFd listener;
  if (launch.listen_fd >= 0) {
    listener = UniqueFd(::fcntl(launch.listen_fd, F_DUPFD_CLOEXEC, kFirstSpawnSource));
    if (!listener.is_open()) return ErrnoStatus("fcntl");
    ends.listener = listener.get();
  }
  WorkerProcess process;
  Left().Reap(process.SystemWait());
  ASSIGN_OR_RETURN(process.pid_, SpawnWith(launch, ends));
  process.events_ = std::move(events.read);
  process.output_ = std::move(output.read);
  process.exit_ = UniqueFd(::pidfd_open(process.pid_, 0));
  if (!process.exit_.is_open()) return ErrnoStatus("pidfd_open");
  return process;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept { *this = std::move(other); }

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(left_, other.left_);
  std::swap(wait_status_, other.wait_status_);
  std::swap(events_, other.events_);
  std::swap(output_, other.output_);
  std::swap(exit_, other.exit_);
  std::swap(partial_line_, other.partial_line_);
  std::swap(tail_, other.tail_);
  return *this;
}

WorkerProcess::~WorkerProcess() {
  if (left_ || End(kLongestKill)) return;
  std::fprintf(stderr, "meshwright: the worker process %d could not be killed and may still run\n",
               pid_);
}

void WorkerProcess::AddDescriptors(std::vector<pollfd>& descriptors) const {
  // The last becomes readable when the process ends.
  for (const UniqueFd* fd : {&events_, &output_, &exit_}) {
    if (fd->is_open()) descriptors.push_back({.fd = fd->get(), .events = POLLIN, .revents = 0});
  }
}

std::vector<std::string> WorkerProcess::ReadEvents() {
  ReadAvailable(events_, partial_line_.max_size(), partial_line_);
  std::vector<std::string> lines;
  size_t begin = 0;
  for (size_t end; (end = partial_line_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    lines.push_back(partial_line_.substr(begin, end - begin));
  }
  partial_line_.erase(0, begin);
  return lines;
}

void WorkerProcess::ReadOutput() {
  ReadAvailable(output_, tail_.max_size(), tail_);
  if (tail_.size() > kTailBytes) tail_.erase(0, tail_.size() - kTailBytes);
}

void WorkerProcess::Kill() {
  // Not reaped yet, so the pid can't belong to another process; a worker that was left is reaped
  // elsewhere.
  if (!ended() && !left_) ::kill(pid_, SIGKILL);
}

bool WorkerProcess::TryReap() {
  if (ended()) return true;
  if (!WaitForEnd(pid_, std::chrono::milliseconds(0), SystemWait(), wait_status_)) return false;
  pid_ = -1;
  exit_.Close();
  return true;
}

bool WorkerProcess::End(std::chrono::milliseconds limit) {
  if (ended() || left_) return ended();
  Kill();
  if (!WaitForEnd(pid_, limit, SystemWait(), wait_status_)) {
    left_ = true;
    Left().Add(pid_);
    return false;
  }
  pid_ = -1;
  exit_.Close();
  return true;
}

ProcessWait WorkerProcess::SystemWait() const {
  return {.waitpid = ::waitpid,
          .now = ProcessWait::Clock::now,
          .pause = [fd = exit_.get()](std::chrono::milliseconds time) {
            pollfd end = {.fd = fd, .events = POLLIN, .revents = 0};
            ::poll(&end, 1, static_cast<int>(time.count()));
          }};
}

absl::StatusOr<std::vector<WorkerProcess>> SpawnWorkers(WorkerLaunch launch,
                                                        const std::vector<int32_t>& ranks) {
  const int listen_fd = launch.listen_fd;
  launch.local_world_size = static_cast<int32_t>(ranks.size());
  std::vector<WorkerProcess> workers;
  for (const int32_t rank : ranks) {
    launch.rank = rank;
    launch.local_rank = launch.first_device + static_cast<int32_t>(workers.size());
    launch.listen_fd = rank == 0 ? listen_fd : -1;
    ASSIGN_OR_RETURN(WorkerProcess worker, WorkerProcess::Spawn(launch));
    workers.push_back(std::move(worker));
  }
  return workers;
}

absl::StatusOr<Listener> ListenOnLoopback() {
  Listener listener{.socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  if (!listener.socket.is_open()) return ErrnoStatus("socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener.socket.get(), generic, size) != 0 ||
      ::listen(listener.socket.get(), SOMAXCONN) != 0 ||
      ::getsockname(listener.socket.get(), generic, &size) != 0) {
    return ErrnoStatus("listen on 127.0.0.1");
  }
  listener.port = ntohs(address.sin_port);
  return listener;
}

}  // namespace meshwright::trial

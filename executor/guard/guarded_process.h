// GuardedProcess is a command of the user's framework that runs under a guard
// (executor/guard/guard.h). It reads the command's output, and ends the command with everything
// that the command started.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/system/unique_fd.h"

namespace meshwright::guard {

struct GuardedLaunch {
  std::string guard;                     // path of the program whose first argument may be `guard`
  std::vector<std::string> argv;         // the first is looked up in the environment's PATH
  std::vector<std::string> environment;  // NAME=VALUE; the command gets no other variables
  std::string folder;                    // the command's working folder
  int64_t memory_limit_bytes = 0;        // private memory of each of its processes; 0: no limit
  std::string cgroup = {};               // folder of the command's control group; empty: none
};

enum class EndKind : uint8_t {
  kExited,       // with the exit code `number`
  kSignalled,    // by the signal `number`
  kCannotStart,  // with the errno `number`
  kLost          // the guard ended before it could tell how the command ended
};

struct CommandEnd {
  EndKind kind = EndKind::kLost;
  int number = 0;
};

class GuardedProcess {
 public:
  // Starts the guard, which starts the command. Returns Unavailable if the guard can't be started.
  static absl::StatusOr<GuardedProcess> Start(const GuardedLaunch& launch);

  GuardedProcess(GuardedProcess&&) noexcept = default;
  GuardedProcess& operator=(GuardedProcess&&) noexcept = default;
  // Ends the command and the guard if they still run.
  ~GuardedProcess();

  // Adds descriptors that become ready when there is something to read.
  void AddDescriptors(std::vector<pollfd>& descriptors) const;
  // Returns the standard output and error that are available.
  std::string ReadOutput();
  // Returns whether the guard has ended, and with it every process below it. Does not wait.
  bool TryReap();
  // Tells the guard to end everything. Does not wait.
  void Kill() { control_.Close(); }
  // Does what Kill() does, and waits at most `limit` for the guard's end. Returns TryReap().
  bool End(std::chrono::milliseconds limit);

  // How the command ended. Valid if TryReap() has returned true; kLost for a command that was
  // killed.
  const CommandEnd& command_end() const { return command_end_; }
  // The process that could not be ended so far, if the guard reported one.
  std::optional<pid_t> left() const { return left_; }
  // The guard.
  pid_t pid() const { return pid_; }

 private:
  GuardedProcess() = default;

  void ReadReports();
  void TakeReport(const std::string& line);

  pid_t pid_ = -1;
  bool reaped_ = false;
  UniqueFd control_;
  UniqueFd reports_;
  UniqueFd output_;
  std::string partial_report_;
  CommandEnd command_end_;
  std::optional<pid_t> left_;
};

}  // namespace meshwright::guard

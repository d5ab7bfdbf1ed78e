// CommandProcess is a runner's command as a process of this host, with the folder in which it runs.
//
// Its events are pieces of its standard output and error, as they were read.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/command/command_host.h"
#include "executor/command/rendered_command.h"
#include "executor/command/run_folder.h"
#include "executor/command/runner.h"
#include "executor/guard/delegated_cgroup.h"
#include "executor/guard/guarded_process.h"
#include "executor/trial/rank_process.h"
#include "executor/trial/trial.h"

namespace meshwright::command {

// Longest wait for the end of a killed command. The kernel needs time to free its memory.
inline constexpr std::chrono::milliseconds kLongestEnd(10'000);

class CommandProcess final : public trial::LocalProcess {
 public:
  // Makes the run's folder, renders the command for it and for the rest of `place`, and starts the
  // command under a guard. Returns the errors of Render(), and Unavailable if the command can't be
  // started.
  static absl::StatusOr<CommandProcess> Start(const Runner& runner, const trial::TrialPlan& plan,
                                              CommandPlace place, const CommandHost& host);

  void AddDescriptors(std::vector<pollfd>& descriptors) const override {
    process_.AddDescriptors(descriptors);
  }
  bool TryReap() override { return ended_ = process_.TryReap(); }
  std::vector<std::string> ReadEvents() override;
  void ReadOutput() override {}
  const std::string& output_tail() const override;

  // Ends the command and everything that it started.
  void Kill() override { process_.Kill(); }
  bool End(std::chrono::milliseconds limit) override { return ended_ = process_.End(limit); }
  bool ended() const override { return ended_; }
  // Returns the pid of a process that could not be ended, or if there is none, the guard's pid.
  pid_t pid() const override { return process_.left().value_or(process_.pid()); }
  void TellEnd(trial::RankRecord& record) const override;
  // Returns how the command ended, in the form that OfWaitStatus() reads.
  int wait_status() const override;

  const guard::CommandEnd& command_end() const { return process_.command_end(); }
  // Returns the command as a line for a shell.
  const std::string& line() const { return line_; }

 private:
  CommandProcess(RunFolder folder, std::optional<guard::RunGroup> group,
                 guard::GuardedProcess process, std::string line)
      : folder_(std::move(folder)),
        group_(std::move(group)),
        process_(std::move(process)),
        line_(std::move(line)) {}

  RunFolder folder_;
  std::optional<guard::RunGroup> group_;  // ended after the process
  guard::GuardedProcess process_;
  std::string line_;
  bool ended_ = false;
};

// Returns a port of this host that nothing uses now. Another process may take it before the command
// does; the trial then fails with a fault of the infrastructure.
absl::StatusOr<uint16_t> FreePort();

// Returns how a command on another host ended, given its wait_status(). In this status, a command
// that could not be started has exit code 127, and a command whose guard was lost has SIGKILL.
guard::CommandEnd OfWaitStatus(int wait_status);

}  // namespace meshwright::command

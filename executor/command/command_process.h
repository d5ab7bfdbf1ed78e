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

// The kernel needs time to free the memory of what is killed.
inline constexpr std::chrono::milliseconds kLongestEnd(10'000);

class CommandProcess final : public trial::LocalProcess {
 public:
  // Renders the command for `place`, whose folder is made here, and starts it below a guard.
  // Returns InvalidArgument if the plan's fields are not those of the runner or the framework can't
  // express the layout, and Unavailable if the command can't be started.
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
  // Returns the process that could not be ended, or else the guard.
  pid_t pid() const override { return process_.left().value_or(process_.pid()); }
  void TellEnd(trial::RankRecord& record) const override;
  // As OfWaitStatus() reads it.
  int wait_status() const override;

  const guard::CommandEnd& command_end() const { return process_.command_end(); }
  // Returns the command as a shell reads it.
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

// Returns the end of a command on another host, of which only the status is known: a command that
// can't be started has the exit code 127 there, and one whose guard was lost was killed.
guard::CommandEnd OfWaitStatus(int wait_status);

}  // namespace meshwright::command

// RenderedCommand is a runner's command for one trial: its words, its variables and the files that
// it reads. Only the runner's text, the layout, the run's options and the numeric address of a
// gang's leader decide what is in it; no other text of a request does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "executor/command/command_host.h"
#include "executor/command/runner.h"
#include "executor/trial/trial.h"
#include "planner/interchange/exported_job.h"

namespace meshwright::command {

struct RenderedCommand {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // NAME=VALUE
  std::vector<planner::ExportedFile> files;
};

// Which part of a trial a command runs, and where.
struct CommandPlace {
  std::string folder = {};  // of this run alone
  // Where the commands of a trial's nodes meet. The port is free on the node 0.
  std::string address = "127.0.0.1";
  uint16_t port = 0;
  int32_t node = 0;
  int32_t nodes = 1;
  int64_t ranks = 0;  // of this node
  int32_t first_device = 0;
};

// Name of the file in {folder} that has the trial's plan as JSON, for programs of the user's own.
inline constexpr char kTrialFile[] = "trial.json";

// Returns the command. Returns InvalidArgument, which names the field, if the plan's fields are not
// those of the runner or the framework can't express the layout. REQUIRES: plan.runner is set.
absl::StatusOr<RenderedCommand> Render(const Runner& runner, const trial::TrialPlan& plan,
                                       const CommandPlace& place, const CommandHost& host);

// Returns the steps that the command has to run, the warm-up included.
int64_t StepsOfCommand(const Runner& runner, const trial::TrialPlan& plan);

}  // namespace meshwright::command

// RenderedCommand is a runner's command for one trial: its arguments, its environment variables and
// the files that it reads. The arguments and variables consist of the runner's text, the export of
// the plan's layout, the plan's numbers, values of fields that the runner's rules allow, paths that
// the agent made, and the numeric address and port of a gang's leader. They have no other text of a
// request.
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

// Which ranks of a trial a command runs, and where.
struct CommandPlace {
  std::string folder = {};  // of this run alone
  // Where the commands of a trial's nodes meet. The port is free on node 0.
  std::string address = "127.0.0.1";
  uint16_t port = 0;
  int32_t node = 0;
  int32_t nodes = 1;
  int64_t ranks = 0;  // of this node
  int32_t first_device = 0;
};

// Name of the file in {folder} that has the trial's plan as JSON, for programs of the user's own.
inline constexpr char kTrialFile[] = "trial.json";

// Returns the command. Returns InvalidArgument, which names the field, if (1) the runner's
// condition does not hold for the layout, (2) the plan's values do not fit the fields that the
// runner declares, or (3) the framework can't express the layout. REQUIRES: plan.runner is set.
absl::StatusOr<RenderedCommand> Render(const Runner& runner, const trial::TrialPlan& plan,
                                       const CommandPlace& place, const CommandHost& host);

// Returns the number of steps that the command has to run, including the warm-up.
int64_t StepsOfCommand(const Runner& runner, const trial::TrialPlan& plan);

}  // namespace meshwright::command

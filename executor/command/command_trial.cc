#include "executor/command/command_trial.h"

#include "base/text/status_macros.h"
#include "executor/command/command_process.h"
#include "executor/command/command_watch.h"
#include "executor/host/host.h"

namespace meshwright::command {
namespace {

absl::StatusOr<CommandProcess> Start(const trial::TrialPlan& plan, const Runner& runner,
                                     const CommandHost& host, int32_t first_device) {
  ASSIGN_OR_RETURN(const uint16_t port, FreePort());
  return CommandProcess::Start(runner, plan,
                               {.port = port,
                                .ranks = trial::RanksAtOnce(plan, plan.layout.devices()),
                                .first_device = first_device},
                               host);
}

}  // namespace

trial::TrialResult RunCommandTrial(const trial::TrialPlan& plan, const Runner& runner,
                                   const CommandHost& host,
                                   const trial::TrialRunnerOptions& options) {
  absl::StatusOr<CommandProcess> process = Start(plan, runner, host, options.first_device);
  if (!process.ok()) {
    const bool is_request = absl::IsInvalidArgument(process.status());
    trial::TrialResult result =
        trial::FailedResult(process.status().message(),
                            is_request ? trial::Fault::kLayout : trial::Fault::kInfrastructure);
    result.host = host::HostName();
    return result;
  }
  const WatchedNode here{.at = {}, .process = &*process, .end = [&] {
                           return NodeEnd{.end = process->command_end()};
                         }};
  return WatchCommand(plan, runner, process->line(), {here}, options);
}

}  // namespace meshwright::command

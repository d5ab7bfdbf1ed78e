#include "executor/command/command_trial.h"

#include <poll.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "executor/command/command_run.h"
#include "executor/command/rendered_command.h"
#include "executor/command/run_folder.h"
#include "executor/guard/guarded_process.h"
#include "executor/host/host.h"
#include "executor/trial/worker_process.h"
#include "planner/interchange/launch_script.h"

namespace meshwright::command {
namespace {

constexpr int kPollMs = 100;
// The kernel needs time to free the memory of what is killed.
constexpr std::chrono::milliseconds kLongestEnd(10'000);

// Returns a port of loopback that nothing uses now.
absl::StatusOr<uint16_t> FreePort() {
  ASSIGN_OR_RETURN(const trial::Listener listener, trial::ListenOnLoopback());
  return listener.port;
}

// A command that was started, with what it needs while it runs.
struct Started {
  RunFolder folder;
  guard::GuardedProcess process;
  std::string line;  // the command as a shell reads it
};

absl::StatusOr<Started> Start(const trial::TrialPlan& plan, const Runner& runner,
                              const CommandHost& host, int32_t first_device) {
  ASSIGN_OR_RETURN(RunFolder folder, RunFolder::Make(host.work_folder));
  // The command opens the port itself, so another process may take it in between; the trial then
  // fails with a fault of the infrastructure.
  ASSIGN_OR_RETURN(const uint16_t port, FreePort());
  ASSIGN_OR_RETURN(
      RenderedCommand command,
      Render(runner, plan, {.folder = folder.path(), .port = port, .first_device = first_device},
             host));
  RETURN_IF_ERROR(folder.Write(command.files));
  std::string line = planner::QuotedWords(command.argv);
  // On a GPU the framework's own allocator holds the memory, which no limit of the host bounds.
  const int64_t limit =
      plan.device == planner::DeviceKind::kCpu ? plan.memory_limit_bytes.value_or(0) : 0;
  ASSIGN_OR_RETURN(guard::GuardedProcess process,
                   guard::GuardedProcess::Start({.guard = host.guard,
                                                 .argv = std::move(command.argv),
                                                 .environment = std::move(command.environment),
                                                 .folder = folder.path(),
                                                 .memory_limit_bytes = limit}));
  return Started{std::move(folder), std::move(process), std::move(line)};
}

void TellProgress(const trial::TrialPlan& plan, const CommandRun& run,
                  const trial::TrialRunnerOptions& options) {
  if (!options.progress) return;
  const std::vector<double> times_s = run.steps().TimesS();
  if (times_s.empty()) return;
  const std::vector<double> losses = run.steps().Losses();
  trial::TrialProgress progress{
      .step = static_cast<int32_t>(times_s.size()), .steps = plan.steps, .step_s = times_s.back()};
  if (!losses.empty()) progress.loss = losses.back();
  options.progress(progress);
}

// Reads until the command has ended or has to be ended. Returns why; nullopt if the run was
// cancelled.
std::optional<CommandRun::Verdict> Listen(const trial::TrialPlan& plan, CommandRun& run,
                                          guard::GuardedProcess& process,
                                          const trial::TrialRunnerOptions& options) {
  while (true) {
    std::vector<pollfd> descriptors;
    process.AddDescriptors(descriptors);
    ::poll(descriptors.data(), descriptors.size(), kPollMs);
    // Before the output is read for the last time, so that nothing of it is missed.
    const bool ended = process.TryReap();
    const LogClock::time_point now = LogClock::now();
    for (std::string output; !(output = process.ReadOutput()).empty();) {
      if (run.Take(output, now)) TellProgress(plan, run, options);
    }
    if (ended) run.TakeEnd(now);
    if (options.cancel != nullptr && options.cancel->load()) return std::nullopt;
    const CommandRun::Verdict verdict = run.Judge(now);
    if (ended || verdict != CommandRun::Verdict::kGoesOn) return verdict;
  }
}

}  // namespace

trial::TrialResult RunCommandTrial(const trial::TrialPlan& plan, const Runner& runner,
                                   const CommandHost& host,
                                   const trial::TrialRunnerOptions& options) {
  absl::StatusOr<Started> started = Start(plan, runner, host, options.first_device);
  if (!started.ok()) {
    const bool is_request = absl::IsInvalidArgument(started.status());
    trial::TrialResult result =
        trial::FailedResult(started.status().message(),
                            is_request ? trial::Fault::kLayout : trial::Fault::kInfrastructure);
    result.host = host::HostName();
    return result;
  }
  CommandRun run(plan, runner, LogClock::now());
  const std::optional<CommandRun::Verdict> verdict = Listen(plan, run, started->process, options);
  // A measurement is safe before the command's end, which may take a while.
  if (verdict == CommandRun::Verdict::kMeasured && options.measured) {
    trial::TrialResult measured = run.Conclude(*verdict, {});
    measured.command = started->line;
    options.measured(measured);
  }
  const bool ended = started->process.End(kLongestEnd);
  trial::TrialResult result =
      verdict ? run.Conclude(*verdict, started->process.command_end()) : run.ConcludeCancelled();
  result.command = started->line;
  if (!ended) {
    const pid_t left = started->process.left().value_or(started->process.pid());
    absl::StrAppend(&result.message, result.message.empty() ? "" : "; ", "the process ", left,
                    " could not be killed, perhaps because a driver holds it, and may still run");
  }
  return result;
}

}  // namespace meshwright::command

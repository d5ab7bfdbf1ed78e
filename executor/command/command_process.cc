#include "executor/command/command_process.h"

#include <sys/wait.h>

#include <csignal>
#include <limits>
#include <optional>
#include <utility>

#include "base/text/status_macros.h"
#include "executor/trial/worker_process.h"
#include "planner/interchange/launch_script.h"

namespace meshwright::command {
namespace {

// As a shell says it of a program that it does not find.
constexpr int kNotFound = 127;

// Returns what the ranks may hold together, each of them `bytes`.
int64_t OfAllRanks(int64_t bytes, int64_t ranks) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return ranks > 0 && bytes > kMost / ranks ? kMost : bytes * ranks;
}

}  // namespace

absl::StatusOr<CommandProcess> CommandProcess::Start(const Runner& runner,
                                                     const trial::TrialPlan& plan,
                                                     CommandPlace place, const CommandHost& host) {
  ASSIGN_OR_RETURN(RunFolder folder, RunFolder::Make(host.work_folder));
  place.folder = folder.path();
  ASSIGN_OR_RETURN(RenderedCommand command, Render(runner, plan, place, host));
  RETURN_IF_ERROR(folder.Write(command.files));
  std::string line = planner::QuotedWords(command.argv);
  // On a GPU the framework's own allocator holds the memory, which no limit of the host bounds.
  const int64_t limit =
      plan.device == planner::DeviceKind::kCpu ? plan.memory_limit_bytes.value_or(0) : 0;
  std::optional<guard::RunGroup> group =
      host.make_group ? host.make_group(OfAllRanks(limit, place.ranks)) : std::nullopt;
  ASSIGN_OR_RETURN(guard::GuardedProcess process,
                   guard::GuardedProcess::Start(
                       {.guard = host.guard,
                        .argv = std::move(command.argv),
                        .environment = std::move(command.environment),
                        .folder = folder.path(),
                        .memory_limit_bytes = group && group->limits_memory() ? 0 : limit,
                        .cgroup = group ? group->path() : ""}));
  return CommandProcess(std::move(folder), std::move(group), std::move(process), std::move(line));
}

std::vector<std::string> CommandProcess::ReadEvents() {
  std::vector<std::string> pieces;
  // A command that prints without pause must not keep its reader from everything else.
  do {
    pieces.push_back(process_.ReadOutput());
  } while (ended_ && !pieces.back().empty());
  if (pieces.back().empty()) pieces.pop_back();
  return pieces;
}

const std::string& CommandProcess::output_tail() const {
  static const std::string none;
  return none;
}

void CommandProcess::TellEnd(trial::RankRecord& record) const {
  trial::ApplyExit(wait_status(), record);
}

int CommandProcess::wait_status() const {
  const guard::CommandEnd& end = command_end();
  switch (end.kind) {
    case guard::EndKind::kExited:
      return W_EXITCODE(end.number, 0);
    case guard::EndKind::kSignalled:
      return W_EXITCODE(0, end.number);
    case guard::EndKind::kCannotStart:
      return W_EXITCODE(kNotFound, 0);
    case guard::EndKind::kLost:
      break;
  }
  return W_EXITCODE(0, SIGKILL);
}

absl::StatusOr<uint16_t> FreePort() {
  ASSIGN_OR_RETURN(const trial::Listener listener, trial::ListenOnLoopback());
  return listener.port;
}

guard::CommandEnd OfWaitStatus(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    return {.kind = guard::EndKind::kSignalled, .number = WTERMSIG(wait_status)};
  }
  return {.kind = guard::EndKind::kExited, .number = WEXITSTATUS(wait_status)};
}

}  // namespace meshwright::command

#include "executor/command/command_watch.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "absl/strings/str_cat.h"
#include "executor/command/command_process.h"

namespace meshwright::command {
namespace {

constexpr int kPollMs = 100;
constexpr std::chrono::milliseconds kLastWord(2'000);

class Watch {
 public:
  Watch(const trial::TrialPlan& plan, const Runner& runner, const std::vector<WatchedNode>& nodes,
        const trial::TrialRunnerOptions& options)
      : plan_(plan),
        nodes_(nodes),
        options_(options),
        run_(plan, runner, LogClock::now(), NodesOf(nodes)) {}

  trial::TrialResult Run(const std::string& line);

 private:
  static std::vector<RunNode> NodesOf(const std::vector<WatchedNode>& nodes);
  // Reads until the command has ended or has to be ended. Returns why; nullopt if the run was
  // cancelled.
  std::optional<CommandRun::Verdict> Listen();
  void WaitForSomething() const;
  void Read(size_t node, LogClock::time_point now);
  void TellProgress() const;
  // Ends the command everywhere, and adds what remains to the result's message.
  void EndAll(trial::TrialResult& result) const;

  const trial::TrialPlan& plan_;
  const std::vector<WatchedNode>& nodes_;
  const trial::TrialRunnerOptions& options_;
  CommandRun run_;
};

std::vector<RunNode> Watch::NodesOf(const std::vector<WatchedNode>& nodes) {
  std::vector<RunNode> run_nodes;
  run_nodes.reserve(nodes.size());
  for (const WatchedNode& node : nodes) run_nodes.push_back(node.at);
  return run_nodes;
}

void Watch::TellProgress() const {
  if (!options_.progress) return;
  const std::vector<double> times_s = run_.steps().TimesS();
  if (times_s.empty()) return;
  const std::vector<double> losses = run_.steps().Losses();
  trial::TrialProgress progress{
      .step = static_cast<int32_t>(times_s.size()), .steps = plan_.steps, .step_s = times_s.back()};
  if (!losses.empty()) progress.loss = losses.back();
  options_.progress(progress);
}

void Watch::WaitForSomething() const {
  std::vector<pollfd> descriptors;
  for (const WatchedNode& node : nodes_) {
    if (!node.process->ended()) node.process->AddDescriptors(descriptors);
  }
  ::poll(descriptors.data(), descriptors.size(), kPollMs);
}

void Watch::Read(size_t node, LogClock::time_point now) {
  trial::RankProcess& process = *nodes_[node].process;
  if (process.ended()) return;
  // Before the output is read for the last time, so that nothing of it is missed.
  const bool ended = process.TryReap();
  for (const std::string& output : process.ReadEvents()) {
    if (run_.Take(output, now, node)) TellProgress();
  }
  if (ended) run_.TakeEnd(nodes_[node].end(), now, node);
}

std::optional<CommandRun::Verdict> Watch::Listen() {
  while (true) {
    WaitForSomething();
    const LogClock::time_point now = LogClock::now();
    for (size_t node = 0; node < nodes_.size(); ++node) Read(node, now);
    if (options_.cancel != nullptr && options_.cancel->load()) return std::nullopt;
    const CommandRun::Verdict verdict = run_.Judge(now);
    if (verdict != CommandRun::Verdict::kGoesOn) return verdict;
  }
}

void Watch::EndAll(trial::TrialResult& result) const {
  for (const WatchedNode& node : nodes_) node.process->Kill();
  // Other hosts begin later, and their word takes a while.
  const auto until = std::chrono::steady_clock::now() + kLongestEnd +
                     (nodes_.size() > 1 ? kLastWord : std::chrono::milliseconds(0));
  for (const WatchedNode& node : nodes_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (node.process->End(std::max(left, std::chrono::milliseconds(0)))) continue;
    const std::string where =
        node.at.agent.empty() ? "" : absl::StrCat(" of agent ", node.at.agent);
    absl::StrAppend(&result.message, result.message.empty() ? "" : "; ", "the process ",
                    node.process->pid(), where,
                    " could not be killed, perhaps because a driver holds it, and may still run");
  }
}

trial::TrialResult Watch::Run(const std::string& line) {
  const std::optional<CommandRun::Verdict> verdict = Listen();
  trial::TrialResult result = verdict ? run_.Conclude(*verdict) : run_.ConcludeCancelled();
  result.command = line;
  // A measurement is safe before the command's end, which may take a while.
  if (verdict == CommandRun::Verdict::kMeasured && options_.measured) options_.measured(result);
  EndAll(result);
  return result;
}

}  // namespace

trial::TrialResult WatchCommand(const trial::TrialPlan& plan, const Runner& runner,
                                const std::string& line, const std::vector<WatchedNode>& nodes,
                                const trial::TrialRunnerOptions& options) {
  return Watch(plan, runner, nodes, options).Run(line);
}

}  // namespace meshwright::command

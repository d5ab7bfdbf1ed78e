// Runner says how a trial runs in the user's own framework: the command that starts it, what the
// command gets, and how its log is read. A runner is a JSON file on the agent's host:
//
//   {"name": "megatron", "framework": "megatron", "export": "megatron",
//    "argv": ["torchrun", "--nproc-per-node", "{ranks}", "--master-port", "{port}",
//             "/opt/megatron/pretrain_gpt.py", "{args}", "--train-iters", "{steps}", "{data}"],
//    "fields": {"data": {"below": "/data/tokens"}},
//    "environment": {"CUDA_DEVICE_MAX_CONNECTIONS": "1"},
//    "pass": ["PATH", "HOME", "LD_LIBRARY_PATH"],
//    "log": "megatron"}
//
// No shell reads the command. A word in braces is a placeholder (executor/command/placeholders.h).
// The values of fields come with a trial, from an operator of the server. Everything else is as the
// agent's owner wrote it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/command/field_rule.h"
#include "executor/command/log_format.h"
#include "planner/codec/fields.h"
#include "planner/layout/layout.h"

namespace meshwright::command {

// How a command runs one rank of a layout alone, on one device, with process groups that move
// nothing, such as Megatron-LM with --fake-process-group.
struct RunnerSlice {
  std::vector<std::string> argv = {};  // which may have {rank}, the layout's last rank
  std::map<std::string, std::string> environment = {};  // beside that of the runner
};

template <planner::ConstOr<RunnerSlice> S, typename Visitor>
void VisitFields(S& slice, Visitor& visit) {
  visit(planner::Needed("argv"), slice.argv);
  visit("environment", slice.environment);
}

struct Runner {
  std::string name = {};
  // The profile by which the trial's layouts are planned and checked.
  std::string framework = {};
  // The target of `export` whose words {args} stands for and whose files are in {folder}; empty:
  // none.
  std::string export_to = {};
  // The layouts that the command can run, as a condition on their keys (planner/layout/
  // layout_condition.h): "tp = 1 and pp = 1". Empty: all that the framework can.
  std::string where = {};
  std::vector<std::string> argv = {};
  std::map<std::string, FieldRule> fields = {};
  std::map<std::string, std::string> environment = {};
  // Variables of the agent's environment that the command gets too.
  std::vector<std::string> pass = {};
  std::optional<RunnerSlice> slice = {};
  LogFormat log = {};
  // Steps at the beginning that do not count, at least 1.
  int32_t warm_up_steps = 1;

  std::string hash = {};    // SHA-256 of the text, hexadecimal
  std::string folder = {};  // of the file; absolute
};

// The file's keys but "log", which is a name or an object.
template <planner::ConstOr<Runner> R, typename Visitor>
void VisitFields(R& runner, Visitor& visit) {
  visit(planner::Needed("name"), runner.name);
  visit(planner::Needed("framework"), runner.framework);
  visit("export", runner.export_to);
  visit("where", runner.where);
  visit(planner::Needed("argv"), runner.argv);
  visit("fields", runner.fields);
  visit("environment", runner.environment);
  visit("pass", runner.pass);
  visit("slice", runner.slice);
  visit("warm_up_steps", runner.warm_up_steps);
}

// No file of a runner is larger.
inline constexpr size_t kMaxRunnerBytes = size_t{64} << 10;

// Returns the runner that `text` describes, of a file in `folder`. Returns InvalidArgument, which
// names the field, if the text is wrong.
absl::StatusOr<Runner> ParseRunner(std::string_view text, std::string_view folder);

// Returns the runner of a file. Returns InvalidArgument as ParseRunner() does, NotFound if there is
// no such file, and PermissionDenied if a user other than this one and root may write the file or
// its folder: a runner decides what this user runs.
absl::StatusOr<Runner> ReadRunner(const std::string& path);

// Returns whether the runner's command can be one of several, each on a node of its own, that run a
// trial together: whether it is told its node, by {node}, and where they meet, by {address} and
// {port}.
bool RunsOnSeveralNodes(const Runner& runner);

// Returns the runner whose command is that of runner.slice. REQUIRES: runner.slice is set.
Runner SliceRunner(const Runner& runner);

// Returns InvalidArgument about `layout` if the runner's condition does not hold for it.
absl::Status CheckLayout(const Runner& runner, const planner::Layout& layout);

// Returns a runner for one command line of the user's own, whose words are separated by blanks;
// quotes keep blanks together as in a shell. The command gets the variables of `pass`.
absl::StatusOr<Runner> RunnerOfCommand(std::string_view command, std::string_view framework,
                                       std::string_view export_to, std::string_view log,
                                       std::vector<std::string> pass);

}  // namespace meshwright::command

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

// How a command runs one rank of a layout alone, on one device, with fake process groups, as
// Megatron-LM does with --fake-process-group.
struct RunnerSlice {
  std::vector<std::string> argv = {};  // which may have {rank}, the layout's last rank
  std::map<std::string, std::string> environment = {};  // added to the runner's, and overrides it
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
  // The target of `meshwright export` that gives the arguments for {args} and the files in
  // {folder}; empty: none.
  std::string export_to = {};
  // The layouts that the command can run, as a condition on their keys (planner/layout/
  // layout_condition.h): "tp = 1 and pp = 1". Empty: all that the framework can run.
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

// Visits all keys of the file except "log", whose value is a name or an object.
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

// Largest file of a runner.
inline constexpr size_t kMaxRunnerBytes = size_t{64} << 10;

// Returns the runner of a file in `folder` whose content is `text`. Returns InvalidArgument, which
// names the field, if the text is wrong.
absl::StatusOr<Runner> ParseRunner(std::string_view text, std::string_view folder);

// Returns the runner of a file. Returns InvalidArgument as ParseRunner() does, NotFound if there is
// no such file, and PermissionDenied if a user other than this one and root may change the file or
// the folders of its path, since a runner decides what this user runs.
absl::StatusOr<Runner> ReadRunner(const std::string& path);

// Returns whether several commands of the runner, one per node, can run a trial together. This
// needs {node}, by which a command is told its node, and {address} and {port}, by which it is told
// where the commands meet.
bool RunsOnSeveralNodes(const Runner& runner);

// Returns the runner with the command and environment of runner.slice. REQUIRES: runner.slice is
// set.
Runner SliceRunner(const Runner& runner);

// Returns InvalidArgument for `layout` if the runner's condition does not hold for it.
absl::Status CheckLayout(const Runner& runner, const planner::Layout& layout);

// Returns a runner for a command line of the user's own, which CommandWords() splits into
// arguments. The command gets the environment variables that `pass` names.
absl::StatusOr<Runner> RunnerOfCommand(std::string_view command, std::string_view framework,
                                       std::string_view export_to, std::string_view log,
                                       std::vector<std::string> pass);

}  // namespace meshwright::command

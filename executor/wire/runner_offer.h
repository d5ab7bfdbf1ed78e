// RunnerOffer is what an agent tells the server about a runner (executor/command/runner.h) with
// which the agent was started. It does not contain the runner's command.
#pragma once

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "executor/trial/runner_choice.h"

namespace meshwright::wire {

struct RunnerOffer {
  std::string name;
  std::string hash;        // SHA-256 of the runner's file, hexadecimal
  std::string framework;   // profile by which its layouts are planned
  std::string export_to;   // export target of its {args}; empty: none
  std::string where = {};  // condition on the layouts that it runs; empty: all
  std::map<std::string, std::string> fields = {};  // what each field accepts, in words
  // Whether several agents may run a trial together, each by a command of its own.
  bool runs_on_several_nodes = false;

  friend bool operator==(const RunnerOffer&, const RunnerOffer&) = default;
};

// The most runners of an agent.
inline constexpr int kMostRunners = 64;

// Returns the choice of the offered runner with these values of its fields. Returns InvalidArgument
// for `runner_fields` if a field is missing or the runner has no such field.
absl::StatusOr<trial::RunnerChoice> Choose(const RunnerOffer& offer,
                                           const std::map<std::string, std::string>& fields);

}  // namespace meshwright::wire

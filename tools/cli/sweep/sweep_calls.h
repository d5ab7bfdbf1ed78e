// These functions make the sweep commands' calls to the server; AddSweepAction() adds such a
// command to the command line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "meshwright/v1/sweeps.grpc.pb.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/server_client.h"
#include "tools/cli/sweep/sweep_text.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {

using SweepsStub = std::unique_ptr<v1::Sweeps::Stub>;

absl::StatusOr<SweepsStub> DialSweeps(const ServerFlags& server);

// Returns the sweep's id without "sweeps/". `typed` may have that prefix or not. Returns an error,
// which names the field `name`, if `typed` is not the name of a sweep.
absl::StatusOr<std::string> SweepId(const std::string& typed);

// Returns OK if a new sweep may have this name. An empty name, for which the server picks one, is
// OK too.
absl::Status CheckNewSweepName(const std::string& name);

// Returns the sweep, with cluster_json.
absl::StatusOr<v1::Sweep> ReadSweep(v1::Sweeps::Stub& stub, const std::string& id);
// Returns all trials of a sweep, those with the shortest measured steps first.
absl::StatusOr<std::vector<TrialView>> ReadTrials(v1::Sweeps::Stub& stub, const std::string& id);
// Returns the sweep's plan, which says what the sweep would assign to `trials` idle agents.
absl::StatusOr<v1::SweepPlan> ReadPlan(v1::Sweeps::Stub& stub, const std::string& id,
                                       int32_t trials);

// Adds a subcommand that runs `action` and reports its status. REQUIRES: `Flags` has a member
// `output` of type OutputFlags. The subcommand's --server sets it.
template <typename Flags>
CLI::App* AddSweepAction(CLI::App& group, CommandContext& context, const std::string& name,
                         const std::string& description, const std::shared_ptr<Flags>& flags,
                         absl::Status (*action)(const Flags&, CommandContext&)) {
  CLI::App* command = group.add_subcommand(name, description);
  flags->output.server.Add(*command, "Server that runs the sweeps", context, kDefaultServer);
  command->callback([flags, &context, action] {
    const absl::Status status = action(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
  return command;
}

}  // namespace meshwright::cli

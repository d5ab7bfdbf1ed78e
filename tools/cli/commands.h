// The functions here add the commands to the command line. The comment before each function says
// what its command does. REQUIRES: the context outlives the command line.
#pragma once

#include <functional>
#include <memory>

#include "CLI/CLI.hpp"
#include "tools/cli/common/context.h"
#include "tools/cli/common/json_call.h"

namespace meshwright::cli {

// Finds the fastest layouts of a model on a cluster.
void AddRecommendCommand(CLI::App& app, CommandContext& context);
// Estimates one layout.
void AddEstimateCommand(CLI::App& app, CommandContext& context);
// Shows several layouts for one query side by side.
void AddCompareCommand(CLI::App& app, CommandContext& context);
// Shows how much throughput more devices gain.
void AddScaleCommand(CLI::App& app, CommandContext& context);
// Checks whether published recommendations about layouts hold for a model and cluster.
void AddStudyCommand(CLI::App& app, CommandContext& context);
// Finds the shortest time in which a model can be trained, over numbers of devices and batches.
void AddFastestCommand(CLI::App& app, CommandContext& context);
// Finds the largest micro-batch, the longest sequence and the deepest model that fit.
void AddFitCommand(CLI::App& app, CommandContext& context);
// Writes a layout as the launch script or the configuration of a framework.
void AddExportCommand(CLI::App& app, CommandContext& context);
// Reads a framework's launch script or configuration as a layout.
void AddImportCommand(CLI::App& app, CommandContext& context);
// Draws a simulated pipeline step.
void AddScheduleCommand(CLI::App& app, CommandContext& context);
// Runs one layout on this machine and shows it beside its prediction.
void AddTrialCommand(CLI::App& app, CommandContext& context);
// Measures this machine's devices and makes a cluster file of the results.
void AddBenchmarkCommand(CLI::App& app, CommandContext& context);
// Lists presets, or the agents of a server.
void AddListCommand(CLI::App& app, CommandContext& context);
// Compares predictions with measured runs.
void AddValidateCommand(CLI::App& app, CommandContext& context);
// Replays measured sweeps with the engine's choices of trials.
void AddReplayCommand(CLI::App& app, CommandContext& context);
// Fits a hardware profile's constants to measured runs.
void AddCalibrateCommand(CLI::App& app, CommandContext& context);
// Manages sweeps on a running server.
void AddSweepCommand(CLI::App& app, CommandContext& context);
// Lists the measurements on a server, of all its sweeps, that match a condition.
void AddHistoryCommand(CLI::App& app, CommandContext& context);
// Runs the server until SIGINT or SIGTERM.
void AddServeCommand(CLI::App& app, CommandContext& context);
// Serves the page to one person on this machine until SIGINT or SIGTERM.
void AddUiCommand(CLI::App& app, CommandContext& context);
// Owns this machine's devices and runs trials for a server.
void AddAgentCommand(CLI::App& app, CommandContext& context);
// Lists a server's agents, sets which of them get trials, and starts agents on a cluster's nodes.
void AddAgentsCommand(CLI::App& app, CommandContext& context);
// Shows who decides about a store and who follows, and lets a standby take over.
void AddStandbyCommand(CLI::App& app, CommandContext& context);
// Maintains a server's database file.
void AddDbCommand(CLI::App& app, CommandContext& context);
// Checks whether this machine can run trials and reach its server.
void AddDoctorCommand(CLI::App& app, CommandContext& context);
// Creates, lists and revokes the tokens of a server's database.
void AddTokenCommand(CLI::App& app, CommandContext& context);

// Serves tools to a coding agent over the Model Context Protocol, until standard input ends.
void AddMcpCommand(CLI::App& app, CommandTree tree, CommandContext& context);

// Makes the command tree anew, without any user's defaults.
using MakeTree = std::function<std::unique_ptr<CLI::App>(CommandContext&)>;
// Adds the commands help, version, completion and man. `app` is the whole command tree, which these
// commands describe.
void AddAboutCommands(CLI::App& app, MakeTree make_tree, CommandContext& context);

// The following functions add subcommands. The command of the group calls them.

// `agents up` starts agents on nodes that Slurm, Kubernetes or another batch queue allocates.
void AddAgentsUpCommand(CLI::App& group, CommandContext& context);
// `history import` imports runs that were measured elsewhere into a server's history.
void AddHistoryImportCommand(CLI::App& group, CommandContext& context);
// `sweep start` makes a new sweep.
void AddSweepStartCommand(CLI::App& group, CommandContext& context);
// `sweep rerun` makes a new sweep like an earlier one.
void AddSweepRerunCommand(CLI::App& group, CommandContext& context);
// `sweep plan` shows what a sweep would run next and why, without running it.
void AddSweepPlanCommand(CLI::App& group, CommandContext& context);
void AddSweepAskCommand(CLI::App& group, CommandContext& context);
void AddSweepTellCommand(CLI::App& group, CommandContext& context);
// `sweep export` writes a sweep's measurements as rows that validate and calibrate read.
void AddSweepExportCommand(CLI::App& group, CommandContext& context);
// `sweep compare` shows how two sweeps differ, and what became faster.
void AddSweepCompareCommand(CLI::App& group, CommandContext& context);

}  // namespace meshwright::cli

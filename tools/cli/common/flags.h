// Declares the flags that several commands share, and converts them to a query.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "planner/scaling/device_range.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/server_flags.h"
#include "tools/cli/io/command_files.h"

namespace meshwright::cli {

// Reads what the flag `model`, `cluster`, `framework` or `base` (a cluster too) names: a preset of
// that name, in any case; otherwise a file, where one exists or the name ends in .json or has a
// slash; for a model also the folder of a config.json. InvalidArgument about `flag`, with the path,
// where the file can't be read or does not describe such a spec. `seq_len` as in ResolveModel().
absl::StatusOr<planner::SpecSource> ReadSpecSource(CommandFiles& files, std::string_view flag,
                                                   const std::string& value, int64_t seq_len = 1);

// --plot FILE.svg, of commands that draw their answer; `what` says what is drawn.
void AddPlot(CLI::App& app, std::string& path, const std::string& what);
// As CommandFiles::Claim(); InvalidArgument for a path that does not end in .svg.
absl::StatusOr<OutputFile> ClaimPlot(CommandFiles& files, const std::string& path);

// --format text|json, and --server with its connection flags.
struct OutputFlags {
  OutputFormat format = OutputFormat::kText;
  ServerFlags server;

  void AddFormat(CLI::App& app);
  void AddServer(CLI::App& app, const CommandContext& context);
};

// --model, --cluster, --gpus, --seq-len, --global-batch, --framework, --dtype, --optimizer,
// --imbalance.
struct QueryFlags {
  std::string model;
  std::string cluster;
  std::string framework = "megatron";
  int64_t devices = 0;
  std::string sizes;  // of a command that takes a range of devices in place of a number
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  std::string dtype;  // empty: fp32 on clusters of processor cores, otherwise bf16
  std::string optimizer = "adamw";
  double imbalance = 1.0;

  void AddModel(CLI::App& app);
  void AddTraining(CLI::App& app);
  void AddTrainingWithoutBatch(CLI::App& app);
  void AddCluster(CLI::App& app);
  void AddClusterOfSizes(CLI::App& app);  // --gpus takes N or A..B
  void AddFramework(CLI::App& app);

  // Returns the sizes, for a command that has AddClusterOfSizes().
  absl::StatusOr<planner::DeviceRange> Range() const { return planner::ParseDeviceRange(sizes); }

  // Reads the named files, as ReadSpecSource() does, and asks `server` for the cluster of an agent
  // (agent:NAME). InvalidArgument where an agent is named without a server.
  absl::StatusOr<planner::PlanQuery> ToQuery(CommandFiles& files,
                                             const ServerFlags& server = {}) const;

 private:
  void AddArithmetic(CLI::App& app);
};

}  // namespace meshwright::cli

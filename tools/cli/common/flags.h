// QueryFlags and OutputFlags hold the flags that several commands share.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "planner/scaling/device_range.h"
#include "planner/spec/run_option_table.h"
#include "tools/cli/common/context.h"
#include "tools/cli/common/measured_flag.h"
#include "tools/cli/common/server_flags.h"
#include "tools/cli/common/text_style.h"
#include "tools/cli/io/command_files.h"

namespace meshwright::cli {

// Adds --optimizer, which takes the names of planner::kOptimizers. `optimizer` holds the default.
void AddOptimizer(CLI::App& app, std::string& optimizer);

// OutputFlags holds --format text|json, --details, --long, and --server with its connection flags.
struct OutputFlags {
  OutputFormat format = OutputFormat::kText;
  TextStyle style;
  ServerFlags server;

  void AddFormat(CLI::App& app);
  void AddStyle(CLI::App& app);  // --details and --long
  void AddLong(CLI::App& app);
  void AddServer(CLI::App& app, const CommandContext& context);
};

// QueryFlags holds --model, --cluster, --gpus, --seq-len, --global-batch, --global-batch-tokens,
// --framework, --dtype, --optimizer, --imbalance, --media-tokens and the options of a run
// (kRunOptions), and --measured.
struct QueryFlags {
  std::string model;
  std::string cluster;
  std::string framework = "megatron";
  int64_t devices = 0;
  bool needs_devices = false;  // set by AddCluster()
  std::string sizes;           // --gpus of a command that takes a range (AddClusterOfSizes())
  int64_t seq_len = 0;
  int64_t global_batch = 0;
  int64_t global_batch_tokens = 0;  // if not 0, in place of global_batch
  bool needs_batch = false;         // set by AddTraining()
  std::string dtype;                // if empty, planner::DefaultPrecision()
  std::string optimizer = "adamw";
  double imbalance = 1.0;
  std::optional<int64_t> media_tokens = std::nullopt;
  std::array<std::string, planner::kRunOptions.size()> options;  // empty: the framework's default
  MeasuredFlag measured;

  void AddModel(CLI::App& app);
  void AddTraining(CLI::App& app);
  void AddTrainingWithoutBatch(CLI::App& app);
  void AddCluster(CLI::App& app);
  void AddClusterOfSizes(CLI::App& app);  // --gpus takes N or A..B
  void AddFramework(CLI::App& app);
  void AddMeasured(CLI::App& app);

  // Returns the parsed `sizes` or, if there are none, all devices of the query's cluster.
  // REQUIRES: AddClusterOfSizes() was called.
  absl::StatusOr<planner::DeviceRange> Range(const planner::PlanQuery& query) const;

  // Returns the query that the flags describe. Reads the model, cluster and framework with
  // ReadModelSource() and ReadSpecSource(). A cluster agent:NAME comes from `server`; returns
  // InvalidArgument if `server` is empty then.
  absl::StatusOr<planner::PlanQuery> ToQuery(CommandContext& context,
                                             const ServerFlags& server = {}) const;

 private:
  void AddArithmetic(CLI::App& app);
};

}  // namespace meshwright::cli

#include "tools/cli/benchmark_command.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "planner/catalog/catalog.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/benchmark_text.h"
#include "tools/cli/device_profile.h"
#include "tools/cli/devices_flag.h"
#include "tools/cli/flags.h"
#include "tools/cli/json_output.h"
#include "tools/cli/progress.h"
#include "tools/cli/whole_file.h"

namespace meshwright {
namespace {

using nlohmann::ordered_json;

constexpr char kFooter[] = R"(
Measured are matrix products by shape, with all ranks at work and one alone, copies within memory,
and, where there are several ranks, collectives of all of them and of pairs. The constants of the
planner's own formulas are fitted to the times of all ranks. What one host can't measure (links
between hosts, attention, the spread of step times) comes from --base.

Example: meshwright benchmark --devices cpu:4 --out here.json
         meshwright recommend --cluster here.json --gpus 4 --framework meshwright …)";

struct BenchmarkFlags {
  std::string devices;
  std::string base;
  std::string output_file;
  double budget_s = BenchmarkPlan().budget_s;
  double timeout_s = BenchmarkPlan().timeout_s;
  OutputFlags output;
};

ordered_json ErrorsToJson(const LogFitErrors& errors) {
  return {{"rows", errors.rows}, {"median_error", errors.median}, {"worst_error", errors.worst}};
}

void PrintBenchmarkJson(const DeviceBenchmark& benchmark, const BenchmarkedCluster& made,
                        std::ostream& out) {
  const ordered_json object = {
      {"benchmark", ToJson(benchmark)},
      {"fit",
       {{"matmuls", ErrorsToJson(made.matmuls)}, {"collectives", ErrorsToJson(made.collectives)}}},
      {"cluster", ordered_json::parse(ClusterToJson(made.cluster))}};
  PrintJson(object, out);
}

absl::Status RunBenchmark(const BenchmarkFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const DeviceSet devices,
                   ResolveDevices(flags.devices, context.worker_path(), context));
  const BenchmarkPlan plan{.device = devices.kind,
                           .ranks = devices.count,
                           .budget_s = flags.budget_s,
                           .timeout_s = flags.timeout_s};
  ProgressLine progress(context.err, context.err_is_terminal);
  const BenchmarkRunnerOptions options{
      .worker_path = context.worker_path(),
      .cancelled = [&context] { return context.interrupted.load(); },
      // A line for each case is of use only where the next one overwrites it.
      .progress =
          [&](int32_t done, int32_t cases) {
            if (context.err_is_terminal) progress.Update(done, cases, "cases");
          }};
  const absl::StatusOr<DeviceBenchmark> benchmark = MeasureDevices(plan, options);
  progress.Finish();
  if (absl::IsCancelled(benchmark.status())) {
    context.exit_code = kExitInterrupted;
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(benchmark.status());
  ASSIGN_OR_RETURN(const BenchmarkedCluster made,
                   ProfileOf(*benchmark, flags.base, context.host_cores));
  if (!flags.output_file.empty()) {
    RETURN_IF_ERROR(WriteWholeFile("out", flags.output_file, ClusterToJson(made.cluster) + "\n"));
  }
  if (flags.output.format == OutputFormat::kJson) {
    PrintBenchmarkJson(*benchmark, made, context.out);
    return absl::OkStatus();
  }
  PrintDeviceBenchmark(*benchmark, made, context.out);
  if (!flags.output_file.empty()) context.out << "wrote " << flags.output_file << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddBenchmarkCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<BenchmarkFlags>();
  CLI::App* command =
      app.add_subcommand("benchmark", "Measure this machine's devices and make a cluster of them");
  command->footer(kFooter);
  command->add_option("--devices", flags->devices, "Ranks on this processor, or every GPU")
      ->required()
      ->option_text("cpu:N|cuda");
  command->add_option("-o,--out", flags->output_file, "Where the cluster file goes")
      ->option_text("FILE");
  command
      ->add_option("--base", flags->base,
                   "Cluster that says what can't be measured; default: the nearest preset")
      ->option_text("FILE|PRESET");
  command
      ->add_option("--budget-s", flags->budget_s,
                   "What measuring may take, about; larger sizes need more")
      ->capture_default_str()
      ->option_text("S");
  command->add_option("--timeout-s", flags->timeout_s, "Longest wait for a sign of life of a rank")
      ->capture_default_str()
      ->option_text("T");
  flags->output.AddFormat(*command);
  command->callback([flags, &context] {
    const absl::Status status = RunBenchmark(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright

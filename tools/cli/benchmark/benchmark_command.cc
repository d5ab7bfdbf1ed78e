#include <memory>

#include "absl/strings/str_cat.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/codec/json_codec.h"
#include "tools/cli/benchmark/benchmark_fields.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/benchmark_text.h"
#include "tools/cli/common/device_profile.h"
#include "tools/cli/common/devices_flag.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/stop_request.h"
#include "tools/cli/io/json_output.h"
#include "tools/cli/io/progress.h"
#include "tools/cli/io/terminal.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr char kBenchmarkFooter[] = R"(
The benchmark measures matrix products by shape, both with all ranks at work and with one rank
alone, and copies within memory. If there are several ranks, it also measures collectives of all
ranks and of pairs. The constants of the planner's own formulas are fitted to the times of all
ranks. What one host can't measure (links between hosts, attention, the spread of step times) comes
from --base. The file that --out writes is a cluster for the other commands: --cluster here.json.)";

struct BenchmarkFlags {
  std::string devices;
  std::string base;
  std::string output_file;
  double budget_s = trial::BenchmarkPlan().budget_s;
  double timeout_s = trial::BenchmarkPlan().timeout_s;
  OutputFlags output;
};

void PrintBenchmarkJson(const planner::DeviceBenchmark& benchmark,
                        const planner::BenchmarkedCluster& made, std::ostream& out) {
  const BenchmarkText text{benchmark, {{made.matmuls}, {made.collectives}}, made.cluster};
  PrintJson(planner::WriteOrderedJson(text), out);
}

absl::Status RunBenchmark(const BenchmarkFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const wire::DeviceSet devices,
                   ResolveDevices(flags.devices, context.worker_path(), context));
  ASSIGN_OR_RETURN(const OutputFile output, context.files.Claim("out", flags.output_file));
  ASSIGN_OR_RETURN(const std::vector<planner::ClusterSpec> known,
                   BaseClusters(context.files, flags.base, context.host_cores));
  const trial::BenchmarkPlan plan{.device = devices.kind,
                                  .ranks = devices.count,
                                  .budget_s = flags.budget_s,
                                  .timeout_s = flags.timeout_s};
  const StopRequest stop(context);
  ProgressLine progress(context.err);
  const trial::BenchmarkRunnerOptions options{
      .worker_path = context.worker_path(),
      .cancelled = [&stop] { return stop.Requested(); },
      // A line per case is useful only where the next one overwrites it.
      .progress =
          [&](int32_t done, int32_t cases) {
            if (TerminalOf(context.err).shows_progress()) progress.Update(done, cases, "cases");
          }};
  const absl::StatusOr<planner::DeviceBenchmark> benchmark = MeasureDevices(plan, options);
  progress.Finish();
  if (absl::IsCancelled(benchmark.status())) {
    context.exit_code = stop.exit_code();
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(benchmark.status());
  ASSIGN_OR_RETURN(const planner::BenchmarkedCluster made, ProfileOf(*benchmark, known));
  RETURN_IF_ERROR(output.Write(planner::ClusterToJson(made.cluster) + "\n"));
  if (flags.output.format == OutputFormat::kJson) {
    PrintBenchmarkJson(*benchmark, made, context.out);
    return absl::OkStatus();
  }
  PrintDeviceBenchmark(*benchmark, made, context.out);
  if (output.wanted()) context.out << "wrote " << output.path() << "\n";
  return absl::OkStatus();
}

}  // namespace

void AddBenchmarkCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<BenchmarkFlags>();
  CLI::App* command =
      app.add_subcommand("benchmark", "Measure this machine's devices and make a cluster of them");
  command->footer(kBenchmarkFooter);
  command->add_option("--devices", flags->devices, "Ranks on this processor, or every GPU")
      ->required()
      ->option_text("cpu:N|cuda");
  command->add_option("-o,--out", flags->output_file, "File to which the cluster is written")
      ->option_text("FILE");
  command
      ->add_option("--base", flags->base,
                   "Cluster that supplies the figures that can't be measured; default: the nearest "
                   "preset")
      ->option_text("FILE|CLUSTER");
  command
      ->add_option("--budget-s", flags->budget_s,
                   "Approximate time for measuring; larger sizes need more time")
      ->capture_default_str()
      ->option_text("S");
  command
      ->add_option("--timeout-s", flags->timeout_s,
                   "Longest silence of a rank before the "
                   "measurement fails")
      ->capture_default_str()
      ->option_text("T");
  flags->output.AddFormat(*command);
  command_line::AddExample(*command, "meshwright benchmark --devices cpu:4 --out here.json");
  command->callback([flags, &context] {
    const absl::Status status = RunBenchmark(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright::cli

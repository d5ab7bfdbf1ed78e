#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/calibration/calibrate.h"
#include "planner/catalog/catalog.h"
#include "tools/cli/calibrate/calibrate_text.h"
#include "tools/cli/commands.h"
#include "tools/cli/common/flags.h"
#include "tools/cli/common/measurement_files.h"
#include "tools/cli/io/json_output.h"
#include "tools/command_line/declare.h"

namespace meshwright::cli {
namespace {

constexpr char kCalibrateFooter[] = R"(
The fit uses the rows that were timed and whose columns name this framework and this cluster's
device. It minimises the error of log(step time) with a robust loss, under which single bad runs
hardly count, and keeps each constant within bounds. It starts from the constants to which --cluster
and --framework were fitted before. A constant that is well known stays near its earlier value, and
few rows move constants little. The constants that the rows did not decide are listed; those of them
that moved by more than 3 % all the same are listed separately.

The spread of the errors becomes the interval of every estimate with the profiles. The spread known
before the fit counts like at most 20 rows. As long as there are no more rows than constants, the
interval is not narrower than before.

The profile keeps the command that made it, and each constant's prior, value and uncertainty. Give
it new rows only: rows to which it was fitted before would count twice. --from-recorded-priors
starts where the profile's own fit started, to fit again with all rows; the spread is then that of
the rows alone.

A row with a cell that can't be read, or that holds what no run can have (a negative time), is left
out and listed with its line.)";

struct CalibrateFlags {
  std::vector<std::string> measurements;
  std::string cluster;
  std::string framework;
  std::vector<std::string> sweeps;
  std::string fit = "all";
  std::string output_file;
  std::string framework_file;
  bool from_recorded_priors = false;
  bool all_clusters = false;
  std::vector<std::string> presets;
  OutputFlags output;
};

// Returns the command for the profile to record. Paths are the user's own: it names files without
// their folders, and the cluster and the framework by their names.
std::string CommandOf(const CalibrateFlags& flags, const planner::CalibrationRequest& request) {
  std::vector<std::string> files;
  files.reserve(flags.measurements.size());
  for (const std::string& path : flags.measurements) {
    files.push_back(path.substr(path.find_last_of('/') + 1));
  }
  std::string command =
      absl::StrCat("meshwright calibrate --measurements ", absl::StrJoin(files, " "), " --cluster ",
                   request.cluster.name, " --framework ", request.profile.name);
  for (const std::string& sweep : flags.sweeps) absl::StrAppend(&command, " --sweep ", sweep);
  if (flags.fit != "all") absl::StrAppend(&command, " --fit ", flags.fit);
  if (flags.all_clusters) absl::StrAppend(&command, " --all-clusters");
  if (flags.from_recorded_priors) absl::StrAppend(&command, " --from-recorded-priors");
  return command;
}

absl::StatusOr<planner::CalibrationRequest> MakeRequest(const CalibrateFlags& flags,
                                                        CommandContext& context) {
  planner::CalibrationRequest request;
  request.options.fit_cluster = flags.fit != "framework";
  request.options.fit_framework = flags.fit != "hardware";
  request.options.on_row_clusters = flags.all_clusters;
  if (flags.all_clusters && flags.fit != "framework") {
    return FieldError("all_clusters", "with --fit " + flags.fit,
                      "needs --fit framework: the constants of one cluster can't be fitted to the "
                      "rows of several");
  }
  if (flags.from_recorded_priors) request.options.priors = planner::PriorSource::kRecorded;
  CommandFiles& files = context.files;
  ASSIGN_OR_RETURN(request.measurements, ReadMeasurementFiles(files, flags.measurements));
  ASSIGN_OR_RETURN(const PresetFiles presets, PresetFiles::Read(files, flags.presets));
  ASSIGN_OR_RETURN(request.presets, presets.All(context.host_cores));
  ASSIGN_OR_RETURN(request.cluster, presets.Cluster(files, flags.cluster, context.host_cores));
  ASSIGN_OR_RETURN(request.profile, presets.Framework(files, flags.framework));
  request.sweeps = flags.sweeps;
  return request;
}

// Records in the profiles which command made them and which of their fields it set.
void SignProfiles(const planner::CalibrationRequest& request, const CalibrateFlags& flags,
                  const std::string& today, planner::FitResult& fit) {
  const std::string command = CommandOf(flags, request);
  if (request.options.fit_cluster) {
    fit.cluster.calibration.command = command;
    planner::Fingerprint& fingerprint = fit.cluster.fingerprint;
    if (fingerprint.device.empty()) fingerprint.device = fit.cluster.device.name;
    fingerprint.date = today;
    fingerprint.command = command;
  }
  if (!request.options.fit_framework) return;
  fit.profile.calibration.command = command;
  for (const planner::CalibratedConstant& constant : fit.profile.calibration.constants) {
    auto& sources = fit.profile.sources;
    const auto source = std::find_if(sources.begin(), sources.end(), [&](const auto& entry) {
      return entry.first == constant.name;
    });
    if (source == sources.end()) {
      sources.emplace_back(constant.name, "see calibration");
    } else {
      source->second = "see calibration";
    }
  }
}

absl::Status RunCalibrate(const CalibrateFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const OutputFile cluster_file, context.files.Claim("output", flags.output_file));
  ASSIGN_OR_RETURN(const OutputFile framework_file,
                   context.files.Claim("framework_output", flags.framework_file));
  ASSIGN_OR_RETURN(const planner::CalibrationRequest request, MakeRequest(flags, context));
  ASSIGN_OR_RETURN(planner::CalibrationResult result, planner::Calibrate(request));
  SignProfiles(request, flags, context.today(), result.fit);
  RETURN_IF_ERROR(cluster_file.Write(planner::ClusterToJson(result.fit.cluster) + "\n"));
  RETURN_IF_ERROR(framework_file.Write(planner::ProfileToJson(result.fit.profile) + "\n"));
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(CalibrationToJson(request, result), context.out);
    return absl::OkStatus();
  }
  PrintCalibration(request, result, context.out);
  context.out << "wrote " << cluster_file.path();
  if (framework_file.wanted()) context.out << " and " << framework_file.path();
  context.out << "\n";
  if (request.options.fit_framework && !framework_file.wanted()) {
    context.out << "the constants of " << request.profile.name
                << " were fitted too and are in no file; --framework-output writes them\n";
  }
  return absl::OkStatus();
}

}  // namespace

void AddCalibrateCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<CalibrateFlags>();
  CLI::App* command =
      app.add_subcommand("calibrate", "Fit a hardware profile's constants to measured runs");
  command->footer(kCalibrateFooter);
  command->add_option("--measurements", flags->measurements, "CSV files of measured runs")
      ->required()
      ->option_text("FILE.csv...");
  command->add_option("--cluster", flags->cluster, "Cluster file or preset to start from")
      ->required()
      ->option_text("FILE|CLUSTER");
  command->add_option("--framework", flags->framework, "Framework profile, file or preset")
      ->required()
      ->option_text("FILE|PROFILE");
  command
      ->add_option("-o,--output", flags->output_file,
                   "File to which the fitted cluster is "
                   "written")
      ->required()
      ->option_text("FILE.json");
  command
      ->add_option("--framework-output", flags->framework_file,
                   "File to which the framework profile with its fitted constants is written")
      ->option_text("FILE.json");
  command->add_option("--sweep", flags->sweeps, "Use only this sweep; may be given several times")
      ->option_text("NAME");
  command_line::TakeWords(
      command->add_option(
          "--fit", flags->fit,
          "Constants to fit: all, hardware (of the cluster) or framework (of the framework's "
          "profile)"),
      {"all", "hardware", "framework"})
      ->capture_default_str();
  command->add_flag("--all-clusters", flags->all_clusters,
                    "With --fit framework: use rows of every cluster, each with its own cluster's "
                    "preset, or with --cluster if that is the row's cluster");
  command
      ->add_option("--presets", flags->presets,
                   "Cluster and framework files that replace the presets of the same names when "
                   "rows are matched")
      ->option_text("FILE.json...");
  command->add_flag("--from-recorded-priors", flags->from_recorded_priors,
                    "Start from the priors that the profiles record, not from their fitted values, "
                    "to repeat a fit with all of its rows");
  flags->output.AddFormat(*command);
  command_line::AddExample(
      *command,
      "meshwright calibrate --measurements runs.csv --cluster a100-80 --framework megatron -o "
      "a100-here.json");
  command->callback([flags, &context] {
    const absl::Status status = RunCalibrate(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright::cli

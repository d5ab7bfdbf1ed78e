#include "tools/cli/calibrate_command.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "planner/calibration/calibrate.h"
#include "planner/catalog/calibration_json.h"
#include "planner/catalog/catalog.h"
#include "planner/estimate/estimate.h"
#include "planner/spec/field_error.h"
#include "planner/spec/status_macros.h"
#include "tools/cli/flags.h"
#include "tools/cli/json_output.h"
#include "tools/cli/measurement_files.h"
#include "tools/cli/text.h"
#include "tools/cli/whole_file.h"

namespace meshwright {
namespace {

constexpr char kFooter[] = R"(
Rows take part whose own columns name this cluster's device and this framework and that were timed.
The fit minimises the error of log(step time) with a loss that lets single bad runs go, priors at
data-sheet values and bounds. Constants that the rows say nothing about stay at their priors.

The profile keeps the command that made it, and each constant's prior, value and uncertainty; fitting
again from it starts at the recorded priors. The spread of the errors becomes the interval of every
estimate with it.

Example: meshwright calibrate --measurements runs.csv --cluster a100-80 --framework megatron
         -o a100-here.json)";

struct CalibrateFlags {
  std::vector<std::string> measurements;
  std::string cluster;
  std::string framework;
  std::vector<std::string> sweeps;
  std::string fit = "all";
  std::string output_file;
  std::string framework_file;
  OutputFlags output;
};

// Paths are the user's own; the profile records the names of the files and of what they hold.
std::string CommandOf(const CalibrateFlags& flags, const CalibrationRequest& request) {
  std::vector<std::string> files;
  for (const std::string& path : flags.measurements) {
    files.push_back(path.substr(path.find_last_of('/') + 1));
  }
  std::string command =
      absl::StrCat("meshwright calibrate --measurements ", absl::StrJoin(files, " "), " --cluster ",
                   request.cluster.name, " --framework ", request.profile.name);
  for (const std::string& sweep : flags.sweeps) absl::StrAppend(&command, " --sweep ", sweep);
  if (flags.fit != "all") absl::StrAppend(&command, " --fit ", flags.fit);
  return command;
}

absl::StatusOr<CalibrationRequest> MakeRequest(const CalibrateFlags& flags, int32_t host_cores) {
  CalibrationRequest request;
  if (flags.fit != "all" && flags.fit != "hardware" && flags.fit != "framework") {
    return FieldError("fit", flags.fit, "must be all, hardware or framework");
  }
  request.options.fit_cluster = flags.fit != "framework";
  request.options.fit_framework = flags.fit != "hardware";
  ASSIGN_OR_RETURN(request.measurements, ReadMeasurementFiles(flags.measurements));
  ASSIGN_OR_RETURN(request.presets, LoadMeasurementPresets(host_cores));
  ASSIGN_OR_RETURN(request.cluster, ReadCluster(flags.cluster, host_cores));
  ASSIGN_OR_RETURN(request.profile, ReadFramework(flags.framework));
  request.sweeps = flags.sweeps;
  return request;
}

// Says in the profiles what made them and which of their fields it set.
void SignProfiles(const CalibrationRequest& request, const CalibrateFlags& flags, FitResult& fit) {
  const std::string command = CommandOf(flags, request);
  if (request.options.fit_cluster) fit.cluster.calibration.command = command;
  if (!request.options.fit_framework) return;
  fit.profile.calibration.command = command;
  for (const CalibratedConstant& constant : fit.profile.calibration.constants) {
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

struct SweepError {
  int64_t rows = 0;
  double sum = 0.0;

  double mean() const { return sum / static_cast<double>(rows); }
};

std::map<std::string, SweepError> ErrorsBySweep(const CalibrationResult& result) {
  std::map<std::string, SweepError> errors;
  for (size_t i = 0; i < result.rows.size(); ++i) {
    SweepError& error = errors[result.sweeps[i]];
    ++error.rows;
    error.sum += std::abs(std::expm1(result.fit.residuals[i]));
  }
  return errors;
}

// The data said something where the uncertainty shrank.
const char* DecidedBy(const CalibratedConstant& constant) {
  if (constant.at_bound) return "its bound";
  return constant.sigma < 0.7 * constant.prior_sigma ? "the rows" : "its prior";
}

void AddConstants(const Calibration& calibration, Table& table) {
  for (const CalibratedConstant& constant : calibration.constants) {
    table.Add({constant.name, absl::StrFormat("%.4g", constant.prior),
               absl::StrFormat("%.4g", constant.value),
               absl::StrFormat("%.1f %%", 100.0 * constant.sigma), DecidedBy(constant)});
  }
}

void PrintText(const CalibrationResult& result, const FitOptions& options, std::ostream& out) {
  out << absl::StrFormat(
      "%d measured steps (left out: %d of another device, framework or sweep, %d without a step "
      "time, %d not modelled)\n\n",
      result.rows.size(), result.other_rows, result.unmeasured_rows, result.unmodelled_rows);
  Table constants({"constant", "prior", "fitted", "uncertainty", "decided by"});
  if (options.fit_cluster) AddConstants(result.fit.cluster.calibration, constants);
  if (options.fit_framework) AddConstants(result.fit.profile.calibration, constants);
  constants.Print(out);
  out << "\n";
  Table sweeps({"sweep", "rows", "mean step error"});
  for (const auto& [sweep, error] : ErrorsBySweep(result)) {
    sweeps.Add({sweep, FormatCount(error.rows), FormatPercent(error.mean())});
  }
  sweeps.Print(out);
  const Calibration& calibration =
      options.fit_cluster ? result.fit.cluster.calibration : result.fit.profile.calibration;
  out << absl::StrFormat(
      "\nstep time: median error %.1f %%, mean %.1f %%; 80 %% of runs within a factor of %.3f\n",
      100.0 * calibration.median_error, 100.0 * calibration.mean_error,
      std::exp(kEightyPercentSigmas * result.fit.step_time_sigma));
}

nlohmann::ordered_json ToJson(const CalibrationResult& result) {
  nlohmann::ordered_json sweeps = nlohmann::ordered_json::array();
  for (const auto& [sweep, error] : ErrorsBySweep(result)) {
    sweeps.push_back({{"sweep", sweep}, {"rows", error.rows}, {"step_time_mape", error.mean()}});
  }
  nlohmann::ordered_json residuals = nlohmann::ordered_json::array();
  for (size_t i = 0; i < result.rows.size(); ++i) {
    residuals.push_back({{"sweep", result.sweeps[i]},
                         {"layout", FormatLayout(result.rows[i].layout)},
                         {"step_s", result.rows[i].step_s},
                         {"log_error", result.fit.residuals[i]}});
  }
  return {{"rows", result.rows.size()},
          {"other_rows", result.other_rows},
          {"unmeasured_rows", result.unmeasured_rows},
          {"unmodelled_rows", result.unmodelled_rows},
          {"cluster", CalibrationToJson(result.fit.cluster.calibration)},
          {"framework", CalibrationToJson(result.fit.profile.calibration)},
          {"step_time_sigma", result.fit.step_time_sigma},
          {"sweeps", sweeps},
          {"residuals", residuals}};
}

absl::Status RunCalibrate(const CalibrateFlags& flags, CommandContext& context) {
  ASSIGN_OR_RETURN(const CalibrationRequest request, MakeRequest(flags, context.host_cores));
  ASSIGN_OR_RETURN(CalibrationResult result, Calibrate(request));
  SignProfiles(request, flags, result.fit);
  RETURN_IF_ERROR(WriteWholeFile("o", flags.output_file, ClusterToJson(result.fit.cluster) + "\n"));
  if (!flags.framework_file.empty()) {
    RETURN_IF_ERROR(WriteWholeFile("framework-output", flags.framework_file,
                                   ProfileToJson(result.fit.profile) + "\n"));
  }
  if (flags.output.format == OutputFormat::kJson) {
    PrintJson(ToJson(result), context.out);
  } else {
    PrintText(result, request.options, context.out);
    context.out << "wrote " << flags.output_file
                << (flags.framework_file.empty() ? "" : " and " + flags.framework_file) << "\n";
  }
  return absl::OkStatus();
}

}  // namespace

void AddCalibrateCommand(CLI::App& app, CommandContext& context) {
  auto flags = std::make_shared<CalibrateFlags>();
  CLI::App* command =
      app.add_subcommand("calibrate", "Fit a hardware profile's constants to measured runs");
  command->footer(kFooter);
  command->add_option("--measurements", flags->measurements, "CSV files of measured runs")
      ->required()
      ->option_text("FILE...");
  command->add_option("--cluster", flags->cluster, "Cluster file or preset to start from")
      ->required()
      ->option_text("FILE|PRESET");
  command->add_option("--framework", flags->framework, "Framework profile, file or preset")
      ->required()
      ->option_text("FILE|PRESET");
  command->add_option("-o,--output", flags->output_file, "Where the fitted cluster file goes")
      ->required()
      ->option_text("PROFILE_FILE");
  command
      ->add_option("--framework-output", flags->framework_file,
                   "Where the framework profile with its fitted constants goes")
      ->option_text("PROFILE_FILE");
  command->add_option("--sweep", flags->sweeps, "Use only this sweep; may be given several times")
      ->option_text("NAME");
  command
      ->add_option("--fit", flags->fit,
                   "Which constants: all, hardware (the cluster's), framework (its profile's)")
      ->option_text("all|hardware|framework");
  flags->output.AddFormat(*command);
  command->callback([flags, &context] {
    const absl::Status status = RunCalibrate(*flags, context);
    if (!status.ok()) context.exit_code = ReportError(context, flags->output.format, status);
  });
}

}  // namespace meshwright

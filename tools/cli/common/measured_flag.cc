#include "tools/cli/common/measured_flag.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "meshwright/v1/sweeps.grpc.pb.h"
#include "planner/catalog/own_runs.h"
#include "planner/layout/layout.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/measurement/own_rows.h"
#include "proto/meshwright/v1/resource_names.h"
#include "tools/cli/common/server_client.h"

namespace meshwright::cli {
namespace {

constexpr const char* kMeasured = "measured";

bool IsFile(const std::string& value) {
  std::error_code error;
  return std::filesystem::is_regular_file(value, error);
}

// A measurement file begins with a header, whose columns have commas between them.
bool IsTable(std::string_view text) {
  return absl::StrContains(AbslView(text.substr(0, text.find('\n'))), ",");
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (!line.empty() && line.front() != '#') lines.emplace_back(line);
  }
  return lines;
}

absl::StatusOr<std::vector<std::string>> RunsOfFile(const std::string& path,
                                                    const planner::PlanQuery& query,
                                                    CommandContext& context) {
  ASSIGN_OR_RETURN(const std::string text, context.files.Read(kMeasured, path));
  if (!IsTable(text)) return LinesOf(text);
  ASSIGN_OR_RETURN(const planner::SearchRequest request,
                   planner::Resolve(query, context.host_cores));
  ASSIGN_OR_RETURN(const planner::MeasurementPresets presets,
                   planner::LoadMeasurementPresets(context.host_cores));
  return planner::OwnRunsOfFile(text, request, presets);
}

// Returns the run of a trial, with the sizes of its sweep's request.
absl::StatusOr<planner::OwnRun> RunOf(const v1::Trial& trial, const v1::Sweep& sweep,
                                      const planner::PlanQuery& query) {
  planner::OwnRun run;
  run.training = query.training;
  run.training.global_batch = sweep.global_batch();
  run.training.seq_len = sweep.seq_len();
  ASSIGN_OR_RETURN(run.layout, planner::ParseLayout(trial.layout()));
  const v1::Measurement& measured = trial.measured();
  run.out_of_memory = measured.outcome() == v1::OUTCOME_OOM;
  if (run.out_of_memory) return run;
  if (measured.outcome() != v1::OUTCOME_OK) {
    return FieldError(kMeasured, trial.name(), "must be a trial that ended as ok or oom");
  }
  run.step_s = measured.step_s();
  int64_t peak_bytes = 0;
  for (const v1::RankMeasurement& rank : measured.ranks()) {
    peak_bytes = std::max(peak_bytes, rank.peak_bytes());
  }
  if (peak_bytes > 0) run.peak_bytes = peak_bytes;
  return run;
}

absl::StatusOr<std::string> RunOfTrial(const std::string& name, const planner::PlanQuery& query,
                                       const ServerFlags& server) {
  if (server.empty()) {
    return FieldError(kMeasured, name, "names a trial of a server; needs --server");
  }
  absl::StatusOr<TrialName> parsed = ParseTrialName(name);
  if (!parsed.ok()) return WithField(parsed.status(), kMeasured);
  ASSIGN_OR_RETURN(const auto channel, ConnectTo(server));
  const auto stub = v1::Sweeps::NewStub(channel);
  v1::GetTrialRequest of_trial;
  of_trial.set_name(name);
  ASSIGN_OR_RETURN(const v1::Trial trial, Call(*stub, &v1::Sweeps::Stub::GetTrial, of_trial));
  v1::GetSweepRequest of_sweep;
  of_sweep.set_name(FormatSweepName(parsed->sweep));
  ASSIGN_OR_RETURN(const v1::Sweep sweep, Call(*stub, &v1::Sweeps::Stub::GetSweep, of_sweep));
  ASSIGN_OR_RETURN(const planner::OwnRun run, RunOf(trial, sweep, query));
  return planner::OwnRunText(run, query.training);
}

}  // namespace

void MeasuredFlag::Add(CLI::App& app) {
  app.add_option(
         "--measured", values,
         "A run of yours, which corrects all estimates: its layout and what it measured, "
         "such as 'tp2.pp1.dp8.mb1 step=12.3s memory=61GiB' or 'tp1.pp1.dp16 oom'; a file with one "
         "such line for each run, or of validate's columns; or a server's trial, "
         "sweeps/NAME/trials/N; repeatable")
      ->option_text("RUN|FILE|TRIAL")
      ->expected(1)
      ->take_all();
}

absl::StatusOr<std::vector<std::string>> MeasuredFlag::ToTexts(const planner::PlanQuery& query,
                                                               const ServerFlags& server,
                                                               CommandContext& context) const {
  std::vector<std::string> texts;
  for (const std::string& value : values) {
    if (absl::StartsWith(value, "sweeps/")) {
      ASSIGN_OR_RETURN(std::string run, RunOfTrial(value, query, server));
      texts.push_back(std::move(run));
    } else if (IsFile(value)) {
      ASSIGN_OR_RETURN(std::vector<std::string> runs, RunsOfFile(value, query, context));
      texts.insert(texts.end(), runs.begin(), runs.end());
    } else {
      texts.push_back(value);
    }
  }
  return texts;
}

}  // namespace meshwright::cli

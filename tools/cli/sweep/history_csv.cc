#include "tools/cli/sweep/history_csv.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "planner/layout/keys.h"
#include "tools/cli/common/wire_text.h"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {
namespace {

std::string Cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::vector<std::string> Header() {
  std::vector<std::string> header = {"trial", "origin", "sweep", "framework", "layout"};
  for (const planner::LayoutKey& key : planner::kLayoutKeys) header.emplace_back(key.name);
  header.insert(header.end(), {"model", "cluster", "gpus", "seq_len", "global_batch", "outcome",
                               "mfu", "step_s", "peak_bytes"});
  return header;
}

std::vector<std::string> Row(const v1::Trial& trial) {
  const v1::TrialFigures& figures = trial.figures();
  const v1::ImportedRun& imported = trial.imported();
  std::vector<std::string> row = {
      trial.has_imported() ? "" : ShortName(trial.name()), imported.origin(), imported.sweep(),
      trial.has_imported() ? imported.framework() : kOwnFramework, trial.layout()};
  const absl::StatusOr<planner::Layout> layout = planner::ParseLayout(trial.layout());
  for (const planner::LayoutKey& key : planner::kLayoutKeys) {
    row.push_back(layout.ok() ? planner::ConditionText(key, *layout) : "");
  }
  row.insert(row.end(),
             {trial.model(), trial.cluster(), absl::StrCat(trial.gpus()),
              absl::StrCat(trial.seq_len()), absl::StrCat(trial.global_batch()),
              StateName(trial.state()), figures.has_mfu() ? absl::StrCat(figures.mfu()) : "",
              figures.has_step_s() ? absl::StrCat(figures.step_s()) : "",
              figures.has_peak_bytes() ? absl::StrCat(figures.peak_bytes()) : ""});
  return row;
}

std::string Line(const std::vector<std::string>& cells) {
  return absl::StrJoin(cells, ",",
                       [](std::string* out, const std::string& cell) { *out += Cell(cell); }) +
         "\n";
}

}  // namespace

std::string HistoryCsv(const std::vector<v1::Trial>& trials) {
  std::string csv = Line(Header());
  for (const v1::Trial& trial : trials) csv += Line(Row(trial));
  return csv;
}

}  // namespace meshwright::cli

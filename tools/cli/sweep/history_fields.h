// HistoryText and ImportText declare the fields that `meshwright history` and `history import`
// print (planner/codec/fields.h), for trials of all sweeps and for imported runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshwright/v1/sweeps.pb.h"
#include "planner/codec/fields.h"
#include "tools/cli/sweep/sweep_fields.h"

namespace meshwright::cli {

struct ImportedRunText {
  v1::ImportedRun run;
};

template <typename Visitor>
void VisitFields(const ImportedRunText& text, Visitor& visit) {
  const v1::ImportedRun& run = text.run;
  visit("origin", run.origin());
  visit("sweep", run.sweep());
  visit("framework", run.framework());
  visit("notes", run.notes());
  visit("import_time", TimeText(run.import_time()));
  visit(NullWithout(run.actor(), "actor"), run.actor());
}

// A trial with a result. Only `sweep show` prints its other fields.
struct PastTrialText {
  v1::Trial trial;
};

template <typename Visitor>
void VisitFields(const PastTrialText& text, Visitor& visit) {
  const v1::Trial& trial = text.trial;
  const v1::TrialFigures& figures = trial.figures();
  visit(NullWithout(trial.name(), {"trial", "Sweep and number; null of a run from elsewhere"}),
        ShortName(trial.name()));
  visit(planner::NullUnless(trial.has_imported(),
                            {"imported", "Where a run from elsewhere comes from; null of a trial"}),
        ImportedRunText{trial.imported()});
  visit({"layout", "Text form of the layout"}, trial.layout());
  visit({"model", "Name of the model"}, trial.model());
  visit({"cluster", "Name of the cluster"}, trial.cluster());
  visit({"gpus", "Devices that it takes, a count"}, int64_t{trial.gpus()});
  visit({"seq_len", "Tokens per sequence"}, int64_t{trial.seq_len()});
  visit({"global_batch", "Sequences per optimizer step"}, int64_t{trial.global_batch()});
  visit({"outcome", "State that it ended in"}, StateName(trial.state()));
  visit(planner::NullUnless(figures.has_mfu(),
                            {"mfu",
                             "PaLM definition, a fraction of the cluster's peak; for a run from "
                             "elsewhere without a step time, the value that its file states; null "
                             "where neither is known"}),
        figures.mfu());
  visit(planner::NullUnless(figures.has_step_s(), {"step_s", "Median step time, seconds"}),
        figures.step_s());
  visit(planner::NullUnless(figures.has_peak_bytes(),
                            {"peak_bytes", "Most that the tensors of a rank held, bytes"}),
        int64_t{figures.peak_bytes()});
}

struct HistoryText {
  std::vector<PastTrialText> trials;
  bool more = false;
};

template <typename Visitor>
void VisitFields(const HistoryText& history, Visitor& visit) {
  visit(planner::Closed({"trials",
                         "Trials with a result and runs from elsewhere, in the order that was "
                         "asked for"}),
        history.trials);
  visit({"more", "Whether --limit leaves out others that match"}, history.more);
}

struct RefusedRowText {
  v1::RefusedRow row;
};

template <typename Visitor>
void VisitFields(const RefusedRowText& text, Visitor& visit) {
  visit("line", int64_t{text.row.line()});
  visit("subject", text.row.subject());
  visit("reason", text.row.reason());
}

// The result of importing one file.
struct ImportedFileText {
  std::string path;
  v1::ImportMeasurementsResponse answer;
};

template <typename Visitor>
void VisitFields(const ImportedFileText& file, Visitor& visit) {
  std::vector<RefusedRowText> refused;
  for (const v1::RefusedRow& row : file.answer.refused()) refused.push_back({row});
  visit(planner::OnlyInText({"file", "Its path"}), file.path);
  visit("rows", int64_t{file.answer.rows()});
  visit("imported", int64_t{file.answer.imported()});
  visit("known", int64_t{file.answer.known()});
  visit("refused", refused);
}

struct ImportText {
  std::vector<ImportedFileText> files;
};

template <typename Visitor>
void VisitFields(const ImportText& imported, Visitor& visit) {
  visit({"files", "In the order given"}, imported.files);
}

}  // namespace meshwright::cli

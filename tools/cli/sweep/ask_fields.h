// These structs declare the fields that `sweep ask` and `sweep tell` print
// (planner/codec/fields.h).
#pragma once

#include <optional>
#include <string>

#include "meshwright/v1/sweeps.pb.h"
#include "planner/codec/fields.h"
#include "planner/codec/json_codec.h"
#include "planner/interchange/export_fields.h"
#include "tools/cli/common/wire_text.h"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {

struct AskText {
  v1::AskTrialResponse asked;
  std::optional<planner::ExportAnswer> exported;
};

template <typename Visitor>
void VisitFields(const AskText& text, Visitor& visit) {
  const v1::Trial& trial = text.asked.trial();
  visit({"trial", "Sweep and number of the trial"}, ShortName(trial.name()));
  visit({"attempt", "Number of this attempt at the trial, from 1"}, trial.attempt());
  visit({"layout", "Text form of the layout to run"}, trial.layout());
  visit({"reason", "Why this trial is the next one"}, trial.reason());
  visit({"predicted_step_s", "Step time that the planner predicts, seconds"},
        double{trial.predicted().time().step_s()});
  visit({"token", "What sweep tell needs; valid for this attempt alone"},
        std::string(text.asked.token()));
  visit({"lease_end_time", "When the trial is handed out again unless a result was told"},
        TimeText(text.asked.lease_end_time()));
  visit(planner::OrNull({"export", "The layout as --to's framework reads it; null without --to"}),
        text.exported);
}

struct TellText {
  v1::TellTrialResponse told;
};

template <typename Visitor>
void VisitFields(const TellText& text, Visitor& visit) {
  const v1::Trial& trial = text.told.trial();
  visit({"trial", "Sweep and number of the trial"}, ShortName(trial.name()));
  visit({"layout", "Text form of its layout"}, trial.layout());
  visit({"state", "State of the trial now"}, StateName(trial.state()));
  visit({"reason", "Why the trial is in that state"}, trial.reason());
  visit(planner::NullUnless(text.told.has_lease_end_time(),
                            {"lease_end_time", "When the renewed lease ends; null unless renewed"}),
        TimeText(text.told.lease_end_time()));
}

}  // namespace meshwright::cli

#include "server/sweeps/sweep_messages.h"

#include <google/protobuf/util/json_util.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "executor/trial/trial.h"
#include "executor/wire/event_details.h"
#include "executor/wire/message_codec.h"
#include "executor/wire/wire.h"
#include "proto/meshwright/v1/resource_names.h"

namespace meshwright::server {
namespace {

constexpr char kSweepsPrefix[] = "sweeps/";

// The JSON forms of an estimate and of a funnel use the messages' field names.
bool ParseStored(const std::string& json, google::protobuf::Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  return google::protobuf::util::JsonStringToMessage(json, message, options).ok();
}

absl::StatusOr<trial::TrialResult> ReadResult(const std::string& text) {
  ASSIGN_OR_RETURN(const nlohmann::json json, ParseJson("result", text));
  return trial::TrialResultFromJson(json);
}

void SetTexts(const db::TrialRecord& trial, v1::Trial& out) {
  std::vector<std::string> unreadable;
  if (!ParseStored(trial.predicted_json, out.mutable_predicted())) {
    out.clear_predicted();
    unreadable.emplace_back("the prediction: it is not JSON");
  }
  if (trial.measured) {
    const absl::StatusOr<trial::TrialResult> result = ReadResult(trial.measured->result_json);
    if (result.ok()) {
      *out.mutable_measured() = wire::ToWire(*result);
    } else {
      unreadable.push_back(absl::StrCat("the result: ", result.status().message()));
    }
  }
  out.set_unreadable(absl::StrJoin(unreadable, "; "));
}

v1::TrialFigures FiguresOf(const db::MeasuredTrial& measured) {
  v1::TrialFigures figures;
  if (measured.mfu) figures.set_mfu(*measured.mfu);
  if (measured.step_s) figures.set_step_s(*measured.step_s);
  if (measured.peak_bytes) figures.set_peak_bytes(*measured.peak_bytes);
  return figures;
}

}  // namespace

v1::Sweep ToWire(const db::SweepRecord& sweep) {
  v1::Sweep out;
  out.set_name(FormatSweepName(sweep.name));
  // Both enumerations list the same states in the same order; the wire's starts with "unspecified".
  out.set_state(static_cast<v1::SweepState>(static_cast<int>(sweep.state) + 1));
  out.set_reason(sweep.reason);
  *out.mutable_create_time() = wire::ToWire(sweep.create_time);
  if (sweep.end_time) *out.mutable_end_time() = wire::ToWire(*sweep.end_time);
  out.set_model(sweep.model);
  out.set_cluster(sweep.cluster);
  out.set_cluster_hash(sweep.cluster_hash);
  out.set_profile(sweep.profile);
  out.set_profile_hash(sweep.profile_hash);
  out.set_gpus(sweep.devices);
  out.set_device_kind(wire::EnumOf<v1::DeviceKind>(sweep.device_kind));
  out.set_runner(sweep.runner);
  out.set_ask(sweep.asked);
  out.set_seq_len(sweep.seq_len);
  out.set_global_batch(sweep.global_batch);
  out.set_dtype(wire::EnumOf<v1::Dtype>(sweep.precision));
  out.set_steps(sweep.steps);
  out.set_seed(sweep.seed);
  out.set_memory_limit_bytes(sweep.memory_limit_bytes.value_or(0));
  ParseStored(sweep.funnel_json, out.mutable_funnel());
  out.set_candidates(sweep.candidates);
  out.set_max_trials(sweep.max_trials);
  out.set_min_gain(sweep.min_gain);
  out.set_trials_reused(sweep.reused);
  out.set_planner_version(sweep.planner_version);
  out.set_trials(sweep.trial_counts.total());
  out.set_trials_ended(sweep.trial_counts.ended());
  for (size_t i = 0; i < db::kTrialStates; ++i) {
    const auto state = static_cast<db::TrialState>(i);
    if (sweep.trial_counts[state] == 0) continue;
    (*out.mutable_trials_by_state())[std::string(db::TrialStateName(state))] =
        sweep.trial_counts[state];
  }
  if (!sweep.rerun_of.empty()) out.set_rerun_of(FormatSweepName(sweep.rerun_of));
  out.set_last_sequence(sweep.last_sequence);
  out.set_actor(sweep.actor);
  return out;
}

TrialsSweep OfSweep(const db::SweepRecord& sweep) {
  return {sweep.name,    sweep.model,        sweep.cluster, sweep.devices,
          sweep.seq_len, sweep.global_batch, sweep.seed};
}

v1::Trial ToWire(const db::TrialRecord& trial, const TrialsSweep& sweep, v1::TrialView view) {
  v1::Trial out;
  out.set_name(FormatTrialName(sweep.name, trial.number));
  out.set_layout(trial.layout);
  out.set_state(static_cast<v1::TrialState>(static_cast<int>(trial.state) + 1));
  out.set_reason(trial.reason);
  out.set_attempt(trial.attempt);
  if (view != v1::TRIAL_VIEW_BASIC) SetTexts(trial, out);
  out.set_agent(trial.agent);
  out.set_host(trial.host);
  out.set_seed(sweep.seed);
  out.set_requested(trial.requested);
  if (trial.end_time) *out.mutable_end_time() = wire::ToWire(*trial.end_time);
  if (!trial.reused_from.empty()) {
    out.set_reused_from(absl::StrCat(kSweepsPrefix, trial.reused_from));
  }
  out.set_model(sweep.model);
  out.set_cluster(sweep.cluster);
  out.set_gpus(sweep.devices);
  out.set_seq_len(sweep.seq_len);
  out.set_global_batch(sweep.global_batch);
  if (trial.measured) *out.mutable_figures() = FiguresOf(*trial.measured);
  return out;
}

namespace {

// Converts an imported run, which has no sweep and ran no worker.
v1::Trial ImportedToWire(const db::MeasuredRow& row) {
  v1::Trial out;
  out.set_layout(row.trial.layout);
  out.set_state(static_cast<v1::TrialState>(static_cast<int>(row.trial.state) + 1));
  out.set_reason("imported");
  out.set_model(row.model);
  out.set_cluster(row.cluster);
  out.set_gpus(row.devices);
  out.set_seq_len(row.seq_len);
  out.set_global_batch(row.global_batch);
  if (row.trial.measured) *out.mutable_figures() = FiguresOf(*row.trial.measured);
  v1::ImportedRun& imported = *out.mutable_imported();
  imported.set_origin(row.imported->origin);
  imported.set_sweep(row.imported->sweep);
  imported.set_framework(row.imported->framework);
  imported.set_notes(row.imported->notes);
  *imported.mutable_import_time() = wire::ToWire(row.imported->import_time);
  imported.set_actor(row.imported->actor);
  return out;
}

}  // namespace

v1::Trial ToWire(const db::MeasuredRow& row, v1::TrialView view) {
  if (row.imported) return ImportedToWire(row);
  return ToWire(
      row.trial,
      {row.sweep, row.model, row.cluster, row.devices, row.seq_len, row.global_batch, row.seed},
      view);
}

v1::AttemptMember ToWire(const db::AttemptMember& member) {
  v1::AttemptMember out;
  out.set_agent(member.agent);
  out.set_host(member.host);
  out.set_first_rank(member.first_rank);
  out.set_ranks(member.ranks);
  out.set_failed(member.failed);
  out.set_first_device(member.first_device);
  return out;
}

v1::Attempt ToWire(const db::AttemptRecord& attempt) {
  v1::Attempt out;
  out.set_number(attempt.number);
  if (!attempt.members.empty()) {
    out.set_agent(attempt.members.front().agent);
    out.set_host(attempt.members.front().host);
  }
  for (const db::AttemptMember& member : attempt.members) *out.add_members() = ToWire(member);
  *out.mutable_start_time() = wire::ToWire(attempt.start_time);
  if (attempt.end_time) *out.mutable_end_time() = wire::ToWire(*attempt.end_time);
  out.set_outcome(wire::EnumOf<v1::AttemptOutcome>(attempt.outcome));
  out.set_reason(attempt.reason);
  out.set_decision(attempt.decision);
  out.set_policy_version(attempt.policy_version);
  if (attempt.lease_end) *out.mutable_lease_end_time() = wire::ToWire(*attempt.lease_end);
  return out;
}

v1::SweepEvent ToWire(const db::EventRecord& event, std::string_view sweep_name) {
  v1::SweepEvent out;
  out.set_sequence(event.sequence);
  *out.mutable_time() = wire::ToWire(event.time);
  out.set_sweep(FormatSweepName(sweep_name));
  if (event.trial != 0) out.set_trial(FormatTrialName(sweep_name, event.trial));
  out.set_attempt(event.attempt);
  out.set_kind(wire::EnumOf<v1::SweepEventKind>(event.kind));
  out.set_message(event.message);
  out.set_actor(event.actor);
  SetDetails(wire::EventDetailsFromJson(event.kind, event.data_json), &out);
  return out;
}

}  // namespace meshwright::server

// These structs declare the fields of sweeps, their trials and their events that commands print
// (planner/codec/fields.h).
//
// A struct has the fields of its message, with the same names. Times are written as texts, resource
// names without their common first part, and absent values as null.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "executor/trial/result_fields.h"
#include "executor/wire/message_codec.h"
#include "executor/wire/wire.h"
#include "meshwright/v1/sweeps.pb.h"
#include "nlohmann/json.hpp"
#include "planner/codec/fields.h"
#include "planner/codec/json_codec.h"
#include "planner/report/estimate_fields.h"
#include "planner/report/estimate_json.h"
#include "tools/cli/common/utilisation_text.h"
#include "tools/cli/common/wire_text.h"
#include "tools/cli/sweep/sweep_text.h"

namespace meshwright::cli {

// Returns the field, which is written as null if `text` is empty.
inline planner::Field NullWithout(const std::string& text, planner::Field field) {
  return planner::NullUnless(!text.empty(), field);
}

// AnyObject stands for a JSON object whose keys are not declared here.
struct AnyObject {};

template <typename Visitor>
void VisitFields(const AnyObject&, Visitor&) {}

// Returns the JSON of a funnel, including the counts of rules that only another version of the
// planner has.
inline nlohmann::ordered_json FunnelToJson(const v1::Funnel& funnel) {
  nlohmann::ordered_json json = planner::FunnelToJson(wire::FromWire(funnel));
  nlohmann::ordered_json& by_rule = json["invalid_by_rule"];
  for (const auto& [rule, count] : funnel.invalid_by_rule()) {
    if (!by_rule.contains(rule)) by_rule[rule] = count;
  }
  return json;
}

struct SweepText {
  v1::Sweep sweep;
};

template <typename Visitor>
void VisitFields(const SweepText& text, Visitor& visit) {
  const v1::Sweep& sweep = text.sweep;
  // If true, the sweep chooses its trials itself.
  const bool chooses = sweep.max_trials() != 0;
  planner::OrderedMap<int32_t> by_state;
  for (const auto& [state, count] : sweep.trials_by_state()) by_state.emplace_back(state, count);
  visit("name", ShortName(sweep.name()));
  visit("state", StateName(sweep.state()));
  visit("reason", sweep.reason());
  visit("model", sweep.model());
  visit("cluster", sweep.cluster());
  visit("cluster_hash", sweep.cluster_hash());
  visit("profile", sweep.profile());
  visit("profile_hash", sweep.profile_hash());
  visit("gpus", int64_t{sweep.gpus()});
  visit("device_kind", wire::TextOf(sweep.device_kind()));
  visit("runner", sweep.runner());
  visit("ask", sweep.ask());
  visit("seq_len", int64_t{sweep.seq_len()});
  visit("global_batch", int64_t{sweep.global_batch()});
  visit("dtype", wire::TextOf(sweep.dtype()));
  visit("steps", sweep.steps());
  visit("seed", uint64_t{sweep.seed()});
  visit(planner::NullUnless(sweep.memory_limit_bytes() != 0, "memory_limit_bytes"),
        int64_t{sweep.memory_limit_bytes()});
  visit("candidates", sweep.candidates());
  visit(planner::NullUnless(chooses, "max_trials"), sweep.max_trials());
  visit(planner::NullUnless(chooses, "min_gain"), sweep.min_gain());
  visit("trials", sweep.trials());
  visit("trials_ended", sweep.trials_ended());
  visit("trials_reused", sweep.trials_reused());
  visit("trials_by_state", by_state);
  visit(NullWithout(sweep.rerun_of(), "rerun_of"), ShortName(sweep.rerun_of()));
  visit("planner_version", sweep.planner_version());
  visit("create_time", TimeText(sweep.create_time()));
  visit(planner::NullUnless(sweep.has_end_time(), "end_time"), TimeText(sweep.end_time()));
  visit("last_sequence", int64_t{sweep.last_sequence()});
  visit(NullWithout(sweep.actor(), "actor"), sweep.actor());
  visit("funnel", planner::WrittenJson<planner::Funnel>{FunnelToJson(sweep.funnel())});
  // `sweep show` takes the peak from cluster_json, and prints the request beside the sweep.
  visit(planner::OnlyOnWire("cluster_json"), planner::NoValue());
  visit(planner::OnlyOnWire("request_json"), planner::NoValue());
}

// The output of `sweep start`, `sweep rerun` and `sweep cancel`.
struct StartedText {
  SweepText sweep;
  std::optional<std::vector<std::string>> notes;  // nullopt unless the sweep begins
};

template <typename Visitor>
void VisitFields(const StartedText& started, Visitor& visit) {
  visit(planner::Inside("sweep"), started.sweep);
  visit({"notes", "What the reader should know, one sentence each; only for a sweep that begins"},
        started.notes);
}

struct SweepListText {
  std::vector<SweepText> sweeps;
};

template <typename Visitor>
void VisitFields(const SweepListText& list, Visitor& visit) {
  visit({"sweeps", "Newest first"}, list.sweeps);
}

struct DeletedText {
  std::string deleted;
};

template <typename Visitor>
void VisitFields(const DeletedText& text, Visitor& visit) {
  visit({"deleted", "Name of the sweep that is gone"}, text.deleted);
}

struct TrialText {
  TrialView view;
  double peak_flops = 0.0;  // its sweep's MFUs are shares of this
};

// Returns value_of(the trial's comparison), or nullopt if the trial did not succeed.
template <typename ValueOf>
auto OfCompared(const TrialText& text, const ValueOf& value_of) {
  using Value = decltype(value_of(*text.view.compared));
  return text.view.compared ? std::optional<Value>(value_of(*text.view.compared)) : std::nullopt;
}

// Visits the keys that `sweep show` computes by comparing all trials of the sweep.
template <typename Visitor>
void VisitComparison(const TrialText& text, Visitor& visit) {
  const auto of = [&](planner::Field field, const auto& value_of) {
    visit(planner::OrNull(planner::OnlyInText(field)), OfCompared(text, value_of));
  };
  const bool has_interval = text.view.compared && text.view.compared->step.interval;
  const std::string note = OfCompared(text, [&](const ComparedStep& compared) {
                             return WhyAboveOne(compared.mfu, compared.mfu_causal, text.peak_flops);
                           }).value_or("");
  const StepSpread step = text.view.compared ? text.view.compared->step : StepSpread();
  of({"rank", "Place by measured step, from 1; null where none was measured"},
     [](const ComparedStep& compared) { return compared.rank.rank; });
  of({"rank_shared", "Whether another trial's step is not told apart from it"},
     [](const ComparedStep& compared) { return compared.rank.shared; });
  of({"step_s", "Median of the measured steps, seconds"},
     [](const ComparedStep& compared) { return compared.step.step_s; });
  visit(planner::NullUnless(
            has_interval,
            planner::OnlyInText({"step_low_s",
                                 "Lower end of the 95 % interval of the median, seconds; null "
                                 "where too few steps were timed"})),
        step.low_s());
  visit(planner::NullUnless(
            has_interval,
            planner::OnlyInText({"step_high_s", "Upper end of that interval, seconds"})),
        step.high_s());
  of({"mfu", "PaLM definition, a fraction of peak_flops"},
     [](const ComparedStep& compared) { return compared.mfu; });
  of({"mfu_causal", "Megatron-LM definition, a fraction of peak_flops"},
     [](const ComparedStep& compared) { return compared.mfu_causal; });
  visit(NullWithout(note, planner::OnlyInText({"mfu_note", "Why one is above 1"})), note);
}

template <typename Visitor>
void VisitFields(const TrialText& text, Visitor& visit) {
  const TrialView& view = text.view;
  const v1::Trial& trial = view.trial;
  using Result = planner::WrittenJson<trial::TrialResult>;
  const auto measured =
      view.measured ? std::optional<Result>(Result{ToJson(*view.measured)}) : std::nullopt;
  visit(planner::InMessage("name", "trial"), ShortName(trial.name()));
  visit("layout", trial.layout());
  visit("requested", trial.requested());
  visit(NullWithout(trial.reused_from(), "reused_from"), ShortName(trial.reused_from()));
  visit("state", StateName(trial.state()));
  visit("reason", trial.reason());
  visit("attempt", trial.attempt());
  visit("agent", trial.agent());
  visit("host", trial.host());
  visit(planner::NullUnless(trial.has_end_time(), "end_time"), TimeText(trial.end_time()));
  visit("seed", uint64_t{trial.seed()});
  VisitComparison(text, visit);
  visit(planner::OrNull("predicted"), view.predicted);
  visit(planner::OrNull("measured"), measured);
  visit(NullWithout(view.unreadable, "unreadable"), view.unreadable);
  // `sweep show` prints no attempts and no plans. Model, cluster and gpus are keys of the sweep.
  // VisitComparison() computes the figures anew. No trial of a sweep is imported.
  for (const char* name : {"attempts", "plan_json", "model", "cluster", "gpus", "seq_len",
                           "global_batch", "figures", "imported"}) {
    visit(planner::OnlyOnWire(name), planner::NoValue());
  }
}

struct ShownSweepText {
  SweepText sweep;
  std::optional<planner::WrittenJson<AnyObject>> request;
  double peak_flops = 0.0;
  std::string peak_source;
  std::vector<TrialText> trials;
};

template <typename Visitor>
void VisitFields(const ShownSweepText& shown, Visitor& visit) {
  visit({"sweep", "The sweep"}, shown.sweep);
  visit(planner::OrNull(planner::Open(
            {"request",
             "The request that made the sweep, under the key create_sweep or rerun_sweep; null "
             "where it was not kept"})),
        shown.request);
  visit({"peak_flops", "FLOP/s of a rank that every MFU of the sweep is a share of"},
        shown.peak_flops);
  visit({"peak_source", "Where that peak comes from"}, shown.peak_source);
  visit({"trials", "Shortest measured step first"}, shown.trials);
}

struct EventText {
  v1::SweepEvent event;
  std::optional<planner::WrittenJson<AnyObject>> data;
};

template <typename Visitor>
void VisitFields(const EventText& text, Visitor& visit) {
  const v1::SweepEvent& event = text.event;
  visit("sequence", int64_t{event.sequence()});
  visit("time", TimeText(event.time()));
  visit("sweep", ShortName(event.sweep()));
  visit(NullWithout(event.trial(), "trial"), ShortName(event.trial()));
  visit("attempt", event.attempt());
  visit("kind", wire::TextOf(event.kind()));
  visit("message", event.message());
  visit(NullWithout(event.actor(), "actor"), event.actor());
  visit(planner::OrNull(planner::OnlyInText(planner::Open({"data", "Details, by kind"}))),
        text.data);
  // The details that are set are printed as `data`, with the fields of
  // executor/wire/event_fields.h.
  for (const char* name : {"placed", "stepped", "left", "refused"}) {
    visit(planner::OnlyOnWire(name), planner::NoValue());
  }
}

}  // namespace meshwright::cli

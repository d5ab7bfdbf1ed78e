// How sweeps and their trials look: for people, and as JSON.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "executor/trial/trial.h"
#include "meshwright/v1/sweeps.pb.h"
#include "nlohmann/json.hpp"
#include "planner/search/search.h"

namespace meshwright {

// A trial with its prediction and measurement in the planner's and executor's own terms.
struct TrialView {
  v1::Trial trial;
  std::optional<RankedLayout> predicted = {};  // nothing where it can't be read
  std::optional<TrialResult> measured = {};
  std::string unreadable = {};  // what can't be read, and why; empty where all can
};

TrialView ViewOf(const v1::Trial& trial);

// As the JSON forms have times.
std::string TimeText(const google::protobuf::Timestamp& time);

// "NAME" of "sweeps/NAME".
std::string ShortName(const std::string& name);
std::string StateName(v1::SweepState state);
std::string StateName(v1::TrialState state);

// Keys: name, state, reason, model, cluster, cluster_hash, profile, profile_hash, gpus,
// device_kind, seq_len, global_batch, dtype, steps, seed, memory_limit_bytes (null without one),
// trials, trials_ended, planner_version, create_time, end_time (null before), last_sequence,
// funnel.
nlohmann::ordered_json SweepToJson(const v1::Sweep& sweep);
// Keys: trial, layout, state, reason, attempt, agent, host, seed, predicted (an entry of
// `layouts[]`), measured (what `meshwright trial` measures, or null), unreadable (what of them
// can't be read and is null therefore; null where all can).
nlohmann::ordered_json TrialToJson(const TrialView& view);
// Keys: sequence, time, sweep, trial (null for the sweep itself), attempt, kind, message, data.
nlohmann::ordered_json EventToJson(const v1::SweepEvent& event);

void PrintSweeps(const std::vector<v1::Sweep>& sweeps, std::ostream& out);
// The sweep, its funnel, and its trials with predicted beside measured.
void PrintSweep(const v1::Sweep& sweep, const std::vector<TrialView>& trials, std::ostream& out);

}  // namespace meshwright

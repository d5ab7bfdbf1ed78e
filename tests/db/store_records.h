// These functions make records for tests of stores.
#pragma once

#include <string>
#include <vector>

#include "db/sweep_store.h"

namespace meshwright::db {

inline absl::Time At(int64_t seconds) { return absl::FromUnixSeconds(1'700'000'000 + seconds); }

inline SweepRecord SomeSweep(const std::string& name, const std::string& request_id = "") {
  SweepRecord sweep;
  sweep.name = name;
  sweep.request_id = request_id;
  sweep.reason = "was just created";
  sweep.create_time = At(0);
  sweep.model = "tiny";
  sweep.cluster = "local-cpu";
  sweep.cluster_json = "{\n  \"name\": \"local-cpu\"\n}";
  sweep.profile = "meshwright";
  sweep.profile_json = "{\n  \"name\": \"meshwright\",\n  \"zero\": 1\n}";
  sweep.devices = 4;
  sweep.device_kind = "cpu";
  sweep.seq_len = 128;
  sweep.global_batch = 8;
  sweep.precision = "fp32";
  sweep.steps = 3;
  sweep.seed = 0xffffffffffffffff;
  sweep.funnel_json = "{}";
  sweep.request_json = R"({"create_sweep":{"trials":2}})";
  sweep.planner_version = "1";
  return sweep;
}

inline std::vector<TrialRecord> SomeTrials(int32_t count) {
  std::vector<TrialRecord> trials;
  for (int32_t i = 1; i <= count; ++i) {
    TrialRecord trial;
    trial.number = i;
    trial.layout = "layout" + std::to_string(i);
    trial.reason = "waits for its turn";
    trial.plan_json = "{}";
    trial.predicted_json = "{}";
    trials.push_back(trial);
  }
  return trials;
}

inline TrialTransition Assign(int64_t sweep_id, int32_t number, int32_t attempt) {
  return {.sweep_id = sweep_id,
          .number = number,
          .from_state = TrialState::kPending,
          .from_attempt = attempt,
          .to_state = TrialState::kAssigned,
          .to_attempt = attempt,
          .reason = "agent a is idle",
          .policy_version = 7,
          .agent = "a",
          .host = "h",
          .members = {{.agent = "a", .host = "h", .first_rank = 0, .ranks = 4}},
          .event_kind = "trial_assigned",
          .event_message = "agent a is idle",
          .time = At(1)};
}

// Returns the transition of a trial whose agent vanished.
inline TrialTransition Lose(int64_t sweep_id, int32_t number, int32_t attempt) {
  return {.sweep_id = sweep_id,
          .number = number,
          .from_state = TrialState::kAssigned,
          .from_attempt = attempt,
          .to_state = TrialState::kPending,
          .to_attempt = attempt + 1,
          .lost = true,
          .reason = "agent a vanished",
          .event_kind = "trial_requeued",
          .event_message = "agent a vanished",
          .time = At(1)};
}

inline TrialTransition Finish(int64_t sweep_id, int32_t number, int32_t attempt, double mfu,
                              double step_s = 0.5) {
  return {.sweep_id = sweep_id,
          .number = number,
          .from_state = TrialState::kAssigned,
          .from_attempt = attempt,
          .to_state = TrialState::kOk,
          .to_attempt = attempt,
          .reason = "measured",
          .measured = MeasuredTrial{R"({"outcome":"ok"})", "w", mfu, step_s, 0.03, 1000},
          .event_kind = "trial_ended",
          .event_message = "measured",
          .time = At(2)};
}

}  // namespace meshwright::db

// EventDetails holds the data of a sweep's event, in addition to the event's text. The database
// stores it as JSON, and commands print that JSON's keys unchanged. The message SweepEvent has one
// field for each type of details.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "executor/trial/trial.h"
#include "meshwright/v1/sweeps.pb.h"
#include "nlohmann/json.hpp"

namespace meshwright::wire {

// The details of trial_assigned and trial_running.
struct TrialPlaced {
  std::string layout;
  std::string agent;
  // Expected reduction of the step time against the sweep's best trial, as a share of that trial's
  // step time. Absent before any trial was measured, and for a layout that the request names.
  std::optional<double> expected_gain = std::nullopt;

  friend bool operator==(const TrialPlaced&, const TrialPlaced&) = default;
};

// The details of trial_progress.
struct TrialStep {
  std::string layout;
  int32_t step = 0;   // steps finished so far
  int32_t steps = 0;  // most steps of the trial
  double step_s = 0.0;
  double loss = 0.0;

  friend bool operator==(const TrialStep&, const TrialStep&) = default;
};

// The details of trial_ended and trial_requeued.
struct TrialLeft {
  std::string layout;
  std::string state;       // name of the trial's new state
  std::string agent = {};  // the agent that lost or returned the trial; empty if the trial ended
  // This and the next five fields are set if the trial was measured.
  std::optional<double> step_s = std::nullopt;
  std::optional<double> step_low_s = std::nullopt;
  std::optional<double> step_high_s = std::nullopt;
  std::optional<double> mfu = std::nullopt;
  std::optional<double> mfu_causal = std::nullopt;
  std::optional<int64_t> peak_bytes = std::nullopt;
  std::string message = {};

  friend bool operator==(const TrialLeft&, const TrialLeft&) = default;
};

// std::monostate stands for an event without details. A TrialResult is the refused result of a
// result_refused event.
using EventDetails =
    std::variant<std::monostate, TrialPlaced, TrialStep, TrialLeft, trial::TrialResult>;

// Returns a JSON object with the fields of executor/wire/event_fields.h.
nlohmann::json ToJson(const EventDetails& details);
// Returns std::monostate if `text` does not hold the details of an event of this kind.
EventDetails EventDetailsFromJson(std::string_view kind, std::string_view text);

void SetDetails(const EventDetails& details, v1::SweepEvent* event);
// Returns the details of `event`, or std::monostate if they are absent or can't be read.
EventDetails DetailsOf(const v1::SweepEvent& event);

}  // namespace meshwright::wire

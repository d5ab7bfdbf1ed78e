// What the events of a sweep tell beside their sentence. A database holds it as JSON, whose keys a
// command prints as they are; a message has it typed.
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

// trial_assigned, trial_running.
struct TrialPlaced {
  std::string layout;
  std::string agent;
  // Of one that was chosen: by how much it is expected to be faster than the best, a share of it.
  std::optional<double> expected_gain = std::nullopt;

  friend bool operator==(const TrialPlaced&, const TrialPlaced&) = default;
};

// trial_progress.
struct TrialStep {
  std::string layout;
  int32_t step = 0;   // finished
  int32_t steps = 0;  // of the trial, at most
  double step_s = 0.0;
  double loss = 0.0;

  friend bool operator==(const TrialStep&, const TrialStep&) = default;
};

// trial_ended, trial_requeued.
struct TrialLeft {
  std::string layout;
  std::string state;       // name of the trial's state since
  std::string agent = {};  // that lost it or gave it back; empty for one that ended there
  // Of one that was measured.
  std::optional<double> step_s = std::nullopt;
  std::optional<double> step_low_s = std::nullopt;
  std::optional<double> step_high_s = std::nullopt;
  std::optional<double> mfu = std::nullopt;
  std::optional<double> mfu_causal = std::nullopt;
  std::optional<int64_t> peak_bytes = std::nullopt;
  std::string message = {};

  friend bool operator==(const TrialLeft&, const TrialLeft&) = default;
};

// Nothing where the sentence says all. A result is that of result_refused.
using EventDetails =
    std::variant<std::monostate, TrialPlaced, TrialStep, TrialLeft, trial::TrialResult>;

// Fields of executor/wire/event_fields.h, where these are defined.
nlohmann::json ToJson(const EventDetails& details);
// Nothing where the text is not what an event of this kind has.
EventDetails EventDetailsFromJson(std::string_view kind, std::string_view text);

void SetDetails(const EventDetails& details, v1::SweepEvent* event);
// Nothing where they can't be read.
EventDetails DetailsOf(const v1::SweepEvent& event);

}  // namespace meshwright::wire

// StepProfile summarises one rank's step: seconds by phase, and each group's communication.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/trial/phase.h"
#include "executor/trial/step_record.h"
#include "planner/spec/collective_kind.h"

namespace meshwright::trial {

// All operations of one kind in one group during a step, or the mean over several steps.
struct CommunicationTotal {
  std::string group;
  planner::CollectiveKind operation = planner::CollectiveKind::kAllReduce;
  double calls = 0.0;
  double bytes = 0.0;        // full buffers, as in CommunicationSpan
  double waited_s = 0.0;     // seconds that the rank itself waited
  double under_way_s = 0.0;  // seconds in transit, whether hidden by computation or not

  friend bool operator==(const CommunicationTotal&, const CommunicationTotal&) = default;
};

// All actions of one kind in one chunk during a step, or the mean over several steps.
struct ActionTotal {
  planner::ActionKind kind = planner::ActionKind::kForward;
  int32_t chunk = 0;
  double calls = 0.0;
  double seconds = 0.0;
  double communication_s = 0.0;  // part of `seconds`

  friend bool operator==(const ActionTotal&, const ActionTotal&) = default;
};

// A step's messages between the rank and one peer, in one group and one direction, in order.
struct MessageTimes {
  std::string group;
  int32_t peer = 0;
  bool sent = false;  // sent by the rank; else received
  std::vector<double> issued_s;
  std::vector<TimeSpan> waits;
  std::vector<double> done_s;  // upper bounds

  friend bool operator==(const MessageTimes&, const MessageTimes&) = default;
};

struct StepProfile {
  PhaseSeconds phases;
  std::vector<ActionTotal> actions;
  std::vector<CommunicationTotal> communication;
  std::vector<MessageTimes> messages;

  friend bool operator==(const StepProfile&, const StepProfile&) = default;
};

StepProfile ProfileOf(const StepRecord& record);

// Adds `by_s` to all times of `profile`, to bring them onto another clock.
void ShiftTimes(double by_s, StepProfile& profile);

// Matches the two sides of each message in one step of all ranks (indexed by rank). The part of a
// wait during which the peer had not yet issued its side is moved from phase kPipeline to phase
// kBubble. Afterwards a message counts as in transit from the time when both sides were issued
// until it was received. Messages whose other side is missing stay unchanged.
void MatchMessages(std::vector<StepProfile>& ranks);

// Returns the mean of phases, actions and communication, without messages. REQUIRES: there is at
// least one step.
StepProfile MeanOf(const std::vector<StepProfile>& steps);

}  // namespace meshwright::trial

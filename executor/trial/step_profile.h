// What one rank's steps came to: seconds by phase, and what each group communicated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/trial/phase.h"
#include "executor/trial/step_record.h"
#include "planner/spec/collective_kind.h"

namespace meshwright::trial {

// All operations of one kind in one group during one step, or the mean of several steps.
struct CommunicationTotal {
  std::string group;
  planner::CollectiveKind operation = planner::CollectiveKind::kAllReduce;
  double calls = 0.0;
  double bytes = 0.0;        // full buffers, as in CommunicationSpan
  double waited_s = 0.0;     // of the rank's own time
  double under_way_s = 0.0;  // beside computation or not

  friend bool operator==(const CommunicationTotal&, const CommunicationTotal&) = default;
};

// All actions of one kind in one chunk, likewise.
struct ActionTotal {
  planner::ActionKind kind = planner::ActionKind::kForward;
  int32_t chunk = 0;
  double calls = 0.0;
  double seconds = 0.0;
  double communication_s = 0.0;  // of them

  friend bool operator==(const ActionTotal&, const ActionTotal&) = default;
};

// The messages of one step in one group between a rank and a peer, in their order.
struct MessageTimes {
  std::string group;
  int32_t peer = 0;
  bool sent = false;  // by the rank, else received
  std::vector<double> issued_s;
  std::vector<TimeSpan> waits;
  std::vector<double> done_s;  // at the latest

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

// Puts all its moments `by_s` later: on another clock.
void ShiftTimes(double by_s, StepProfile& profile);

// One step of all ranks, by rank: what only both sides of a message together tell. The part of each
// wait in which the peer had not issued its side goes from the pipeline to the bubble, and a
// message is under way from when both sides were issued until it is received. Messages whose other
// side is not there stay as they are.
void MatchMessages(std::vector<StepProfile>& ranks);

// Phases, actions and communication; messages are left out. Requires at least one step.
StepProfile MeanOf(const std::vector<StepProfile>& steps);

}  // namespace meshwright::trial

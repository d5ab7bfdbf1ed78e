// What one rank did during one step, and when: its actions and every communication operation.
//
// Times are seconds of the host's monotonic clock, which all ranks of a host share; on a device
// they are those of the device's work, put on that clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "executor/trial/phase.h"
#include "planner/schedule/schedule.h"
#include "planner/spec/collective_kind.h"

namespace meshwright::trial {

struct TimeSpan {
  double begin_s = 0.0;
  double end_s = 0.0;

  double duration_s() const { return end_s - begin_s; }

  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

// Without waiting for the input before it and sending the output behind it.
struct ActionSpan {
  planner::Action action = {};
  TimeSpan time = {};
  double communication_s = 0.0;  // of it: issuing operations and waiting for them

  friend bool operator==(const ActionSpan&, const ActionSpan&) = default;
};

struct CommunicationSpan {
  std::string group;  // NameOf() of planner/schedule/open_groups.h
  planner::CollectiveKind operation = planner::CollectiveKind::kAllReduce;
  int32_t peer = -1;  // rank (of the run) at the other end of a message
  // The full buffer: what each rank holds before an all-reduce, after an all-gather, before a
  // reduce-scatter; the message of a send or receive.
  int64_t bytes = 0;
  double issued_s = 0.0;    // when the rank began to issue it
  double returned_s = 0.0;  // and was free to go on
  TimeSpan wait = {};       // empty where nobody waited during the step
  double done_s = 0.0;      // at the latest; where it can't be told, the end of the wait

  friend bool operator==(const CommunicationSpan&, const CommunicationSpan&) = default;
};

struct StepRecord {
  TimeSpan step;
  PhaseSeconds phases;
  std::vector<ActionSpan> actions;  // in their order, they don't overlap
  TimeSpan optimizer;
  std::vector<CommunicationSpan> communication;  // in the order of issue

  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

// Puts all its moments `by_s` later: on another clock.
void ShiftTimes(double by_s, StepRecord& record);
void ShiftTimes(double by_s, TimeSpan& span);

// When an operation of `group` and kind began, given when the one before it was done: a group works
// on one after the other.
double BeganAt(const CommunicationSpan& span, double previous_done_s);

}  // namespace meshwright::trial

// StepRecord holds what one rank did during one step, and when: its actions and every communication
// operation.
//
// Times are in seconds of the host's monotonic clock, which all ranks of a host share. On a GPU,
// they are the times of the device's work, converted to that clock.
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

// One action, without the wait for its input and the sending of its output.
struct ActionSpan {
  planner::Action action = {};
  TimeSpan time = {};
  // The part of `time` that the action's own communication takes (collectives inside its layers).
  double communication_s = 0.0;

  friend bool operator==(const ActionSpan&, const ActionSpan&) = default;
};

struct CommunicationSpan {
  std::string group;  // the name of the group, by NameOf() (planner/schedule/open_groups.h)
  planner::CollectiveKind operation = planner::CollectiveKind::kAllReduce;
  int32_t peer = -1;  // global rank at the other end of a message; -1 in a collective
  // Size of the full buffer: a rank's buffer before an all-reduce or a reduce-scatter, or after an
  // all-gather; the message of a send or receive.
  int64_t bytes = 0;
  double issued_s = 0.0;    // when the issuing call began
  double returned_s = 0.0;  // when the issuing call returned
  TimeSpan wait = {};       // empty if the rank did not wait during the step
  double done_s = 0.0;      // when it was done, or if that is not known, when the wait ended

  friend bool operator==(const CommunicationSpan&, const CommunicationSpan&) = default;
};

struct StepRecord {
  TimeSpan step;
  PhaseSeconds phases;
  std::vector<ActionSpan> actions;  // in execution order, not overlapping
  TimeSpan optimizer;
  std::vector<CommunicationSpan> communication;  // in order of issue

  friend bool operator==(const StepRecord&, const StepRecord&) = default;
};

// Each ShiftTimes() adds `by_s` to all times of its argument, to bring them onto another clock.
void ShiftTimes(double by_s, StepRecord& record);
void ShiftTimes(double by_s, TimeSpan& span);

// Returns when an operation began. A group executes its operations one after the other, and
// `previous_done_s` is when the group's previous operation was done.
double BeganAt(const CommunicationSpan& span, double previous_done_s);

}  // namespace meshwright::trial

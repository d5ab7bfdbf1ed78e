// Simulates a step of a pipeline schedule event by event: when each action of each rank runs, and
// how many seconds the step takes.
//
// Each rank works through its list. An action starts when its rank is free and the message that it
// needs has arrived. Each rank has a stream of its own for gradient reductions, which run while it
// computes; a chunk's reduction may start when the last of its weight gradients is done. Times are
// not rounded to clock ticks. The run time is linear in the number of actions.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/schedule/schedule.h"
#include "planner/schedule/stage_durations.h"

namespace meshwright::planner {

enum class HopMode : uint8_t {
  kOverlapped,  // a message takes hop_s, while both ranks can compute
  kBlocking     // a message takes hop_s of the sender's time and hop_s of the receiver's
};

// Times of one step. Vectors over stages are in the order of planner/schedule/placement.h.
struct PipelineTimes {
  std::vector<StageDurations> stages;  // times of one micro-batch on each of the pp * vpp stages

  // The time of a message from each stage to the next, or one value for all. If empty, messages
  // take no time. A hop between two stages of one rank is always free.
  std::vector<double> hop_s;
  HopMode hop_mode = HopMode::kOverlapped;

  std::vector<double> reduction_s;  // seconds of each stage's gradient reduction; empty if none
  // Seconds of a rank's optimizer, which begins once its gradients are reduced.
  double optimizer_s = 0.0;
  bool optimizer_barrier = false;  // whether each rank's optimizer waits for all ranks' gradients
};

struct TimedAction {
  int32_t rank = 0;
  Action action;
  double start_s = 0.0;
  double end_s = 0.0;
};

struct TimedReduction {
  int32_t rank = 0;
  int32_t chunk = 0;
  double start_s = 0.0;
  double end_s = 0.0;
};

struct RankTimeline {
  double first_start_s = 0.0;    // start of the first action
  double busy_s = 0.0;           // seconds in actions
  double transfer_s = 0.0;       // seconds in blocking sends and receives
  double compute_end_s = 0.0;    // end of the last action, with its send
  double reduction_end_s = 0.0;  // end of the last reduction; 0 if there is none
  double end_s = 0.0;            // end of the optimizer
  int32_t peak_in_flight = 0;    // chunks, as PeakInFlight() counts them
};

struct Timeline {
  double makespan_s = 0.0;
  std::vector<RankTimeline> ranks;
  std::vector<TimedAction> actions;        // in order within each rank; ranks interleave
  std::vector<TimedReduction> reductions;  // in order within each rank; ranks interleave

  // Returns the share of all ranks' time up to the makespan in which no action runs.
  double BubbleShare() const;
  // Returns the share of one rank's time up to the makespan in which no action runs.
  double BubbleShare(int32_t rank) const;

  // Returns the seconds from one step to the next if steps follow each other without a barrier. A
  // rank may then begin the next step while other ranks finish the current step, so the result is
  // the longest time that any rank needs from its first action to the end of its optimizer.
  double RepeatedStepTime() const;
};

enum class Record : uint8_t { kTotals, kEvents };

// Simulates one step of `lists`. With Record::kTotals, `actions` and `reductions` stay empty.
// Returns InvalidArgument if `times` does not fit the layout, if it has a negative or infinite
// duration, or if the lists deadlock.
// REQUIRES: CheckSchedule() accepts `lists`, unless they deadlock.
absl::StatusOr<Timeline> Simulate(const Layout& layout, int32_t micro_batches,
                                  const ScheduleLists& lists, const PipelineTimes& times,
                                  Record record = Record::kEvents);

// Simulates the layout's own schedule. Returns every error of MakeSchedules() and Simulate().
absl::StatusOr<Timeline> SimulateLayout(const Layout& layout, int32_t micro_batches,
                                        const PipelineTimes& times,
                                        Record record = Record::kEvents);

}  // namespace meshwright::planner

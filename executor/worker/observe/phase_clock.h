// PhaseClock attributes a rank's time to phases (executor/trial/phase.h), measured by the clock of
// the rank's device.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "executor/trial/phase.h"
#include "executor/trial/step_record.h"
#include "executor/worker/comm/device_clock.h"

namespace meshwright::worker {

class PhaseClock {
 public:
  using Mark = DeviceClock::Mark;

  // Replaces the host's clock by the clock of a device that works asynchronously to the host.
  void Use(std::unique_ptr<DeviceClock> clock);
  DeviceClock& clock() { return *clock_; }

  // Clears the history and invalidates earlier marks.
  void Restart();

  struct Switched {
    trial::Phase ended;  // the phase that ended
    Mark at;
  };
  // Ends the current phase and starts `phase`.
  Switched Switch(trial::Phase phase);

  // The next three functions return times between the last Restart() and the last Switch().
  // REQUIRES: the device was synchronized since.
  trial::PhaseSeconds Seconds() const;
  // Returns the seconds of each phase between two marks, each of which began a phase.
  trial::PhaseSeconds Between(Mark begin, Mark end) const;
  // Returns the span from the first begin of `phase` to its last end, including other phases in
  // between. The span is empty if `phase` never began.
  trial::TimeSpan HullOf(trial::Phase phase) const;

 private:
  std::unique_ptr<DeviceClock> clock_ = std::make_unique<HostClock>();
  trial::Phase current_ = trial::Phase::kOther;
  std::vector<std::pair<Mark, trial::Phase>> began_;  // phases since the last Restart(), in order
};

class ScopedPhase {
 public:
  ScopedPhase(PhaseClock& clock, trial::Phase phase)
      : clock_(clock), outer_(clock.Switch(phase).ended) {}
  ~ScopedPhase() { clock_.Switch(outer_); }
  ScopedPhase(const ScopedPhase&) = delete;
  ScopedPhase& operator=(const ScopedPhase&) = delete;

 private:
  PhaseClock& clock_;
  const trial::Phase outer_;
};

}  // namespace meshwright::worker

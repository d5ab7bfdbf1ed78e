// StepRecorder records a rank's actions and communication during a step
// (executor/trial/step_record.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/trial/step_record.h"
#include "executor/worker/comm/communicator.h"
#include "executor/worker/observe/phase_clock.h"

namespace meshwright::worker {

class StepRecorder {
 public:
  using Mark = DeviceClock::Mark;

  // REQUIRES: `clock` outlives this object.
  explicit StepRecorder(PhaseClock& clock) : clock_(clock) {}
  StepRecorder(const StepRecorder&) = delete;
  StepRecorder& operator=(const StepRecorder&) = delete;

  // BeginStep() and EndStep() begin and end a step. Events outside a step are dropped.
  void BeginStep();
  void EndStep();
  // Returns the step that ended. REQUIRES: the device was synchronized since.
  trial::StepRecord Take();

  // BeginAction() and EndAction() begin and end an action, and the phase that its kind belongs to.
  // Actions don't nest.
  void BeginAction(const planner::Action& action);
  void EndAction();

  // A handle of one communication operation.
  struct Operation {
    int64_t step = -1;
    size_t index = 0;
  };
  // Records that an operation was issued. `span` describes the operation; Take() fills in its
  // times.
  Operation Issued(trial::CommunicationSpan span, Mark at);
  // Returned() records when the issuing call returned, and Waited() when the rank waited for the
  // operation. Watch() stores the object that tells when the operation was done, which may be null.
  void Returned(const Operation& operation, Mark at);
  void Watch(const Operation& operation, std::shared_ptr<const DoneTime> done);
  void Waited(const Operation& operation, Mark begin, Mark end);

  PhaseClock& clock() { return clock_; }

 private:
  struct OpenAction {
    planner::Action action;
    Mark begin = 0;
    Mark end = 0;
  };
  struct OpenOperation {
    trial::CommunicationSpan span;
    Mark issued = 0;
    Mark returned = 0;
    std::optional<Mark> wait_begin;
    Mark wait_end = 0;
    std::shared_ptr<const DoneTime> done;
  };

  OpenOperation* Find(const Operation& operation);
  trial::CommunicationSpan Resolve(OpenOperation& operation, double step_end_s) const;

  PhaseClock& clock_;
  bool recording_ = false;
  int64_t step_ = 0;
  Mark begin_ = 0;
  Mark end_ = 0;
  std::vector<OpenAction> actions_;
  std::vector<OpenOperation> operations_;
};

// Records `action` for the duration of a scope.
class ScopedAction {
 public:
  ScopedAction(StepRecorder& recorder, const planner::Action& action) : recorder_(recorder) {
    recorder_.BeginAction(action);
  }
  ~ScopedAction() { recorder_.EndAction(); }
  ScopedAction(const ScopedAction&) = delete;
  ScopedAction& operator=(const ScopedAction&) = delete;

 private:
  StepRecorder& recorder_;
};

}  // namespace meshwright::worker

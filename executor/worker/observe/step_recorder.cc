#include "executor/worker/observe/step_recorder.h"

#include <utility>

namespace meshwright::worker {
namespace {

trial::Phase PhaseOf(const planner::Action& action) {
  return action.kind == planner::ActionKind::kForward ? trial::Phase::kForward
                                                      : trial::Phase::kBackward;
}

}  // namespace

void StepRecorder::BeginStep() {
  ++step_;
  recording_ = true;
  actions_.clear();
  operations_.clear();
  clock_.Restart();
  begin_ = clock_.Switch(trial::Phase::kOther).at;
}

void StepRecorder::EndStep() {
  end_ = clock_.Switch(trial::Phase::kOther).at;
  recording_ = false;
}

trial::StepRecord StepRecorder::Take() {
  const DeviceClock& clock = clock_.clock();
  trial::StepRecord record;
  record.step = {.begin_s = clock.Seconds(begin_), .end_s = clock.Seconds(end_)};
  record.phases = clock_.Seconds();
  record.optimizer = clock_.HullOf(trial::Phase::kOptimizer);
  record.actions.reserve(actions_.size());
  for (const OpenAction& open : actions_) {
    const trial::PhaseSeconds phases = clock_.Between(open.begin, open.end);
    record.actions.push_back(
        {.action = open.action,
         .time = {.begin_s = clock.Seconds(open.begin), .end_s = clock.Seconds(open.end)},
         .communication_s = phases.total_s() - phases[PhaseOf(open.action)]});
  }
  record.communication.reserve(operations_.size());
  for (OpenOperation& open : operations_) {
    record.communication.push_back(Resolve(open, record.step.end_s));
  }
  return record;
}

trial::CommunicationSpan StepRecorder::Resolve(OpenOperation& operation, double step_end_s) const {
  const DeviceClock& clock = clock_.clock();
  trial::CommunicationSpan span = std::move(operation.span);
  span.issued_s = clock.Seconds(operation.issued);
  span.returned_s = clock.Seconds(operation.returned);
  span.done_s = step_end_s;
  if (operation.wait_begin.has_value()) {
    span.wait = {.begin_s = clock.Seconds(*operation.wait_begin),
                 .end_s = clock.Seconds(operation.wait_end)};
    span.done_s = span.wait.end_s;
  }
  if (operation.done != nullptr) span.done_s = operation.done->seconds().value_or(span.done_s);
  return span;
}

void StepRecorder::BeginAction(const planner::Action& action) {
  actions_.push_back({.action = action, .begin = clock_.Switch(PhaseOf(action)).at});
}

void StepRecorder::EndAction() { actions_.back().end = clock_.Switch(trial::Phase::kOther).at; }

StepRecorder::Operation StepRecorder::Issued(trial::CommunicationSpan span, Mark at) {
  if (!recording_) return {};
  operations_.push_back({.span = std::move(span),
                         .issued = at,
                         .returned = at,
                         .wait_begin = std::nullopt,
                         .wait_end = 0,
                         .done = nullptr});
  return {.step = step_, .index = operations_.size() - 1};
}

void StepRecorder::Returned(const Operation& operation, Mark at) {
  if (OpenOperation* open = Find(operation)) open->returned = at;
}

void StepRecorder::Watch(const Operation& operation, std::shared_ptr<const DoneTime> done) {
  if (OpenOperation* open = Find(operation)) open->done = std::move(done);
}

void StepRecorder::Waited(const Operation& operation, Mark begin, Mark end) {
  OpenOperation* open = Find(operation);
  if (open == nullptr) return;
  open->wait_begin = begin;
  open->wait_end = end;
}

StepRecorder::OpenOperation* StepRecorder::Find(const Operation& operation) {
  const bool current = recording_ && operation.step == step_;
  return current ? &operations_[operation.index] : nullptr;
}

}  // namespace meshwright::worker

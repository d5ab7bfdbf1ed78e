#include "executor/trial/step_record.h"

#include <algorithm>

namespace meshwright::trial {

void ShiftTimes(double by_s, TimeSpan& span) {
  span.begin_s += by_s;
  span.end_s += by_s;
}

void ShiftTimes(double by_s, StepRecord& record) {
  ShiftTimes(by_s, record.step);
  for (ActionSpan& action : record.actions) ShiftTimes(by_s, action.time);
  ShiftTimes(by_s, record.optimizer);
  for (CommunicationSpan& span : record.communication) {
    span.issued_s += by_s;
    span.returned_s += by_s;
    ShiftTimes(by_s, span.wait);
    span.done_s += by_s;
  }
}

double BeganAt(const CommunicationSpan& span, double previous_done_s) {
  return std::clamp(previous_done_s, span.issued_s, std::max(span.issued_s, span.done_s));
}

}  // namespace meshwright::trial

#include "executor/trial/step_record.h"

#include <algorithm>

namespace meshwright::trial {

double BeganAt(const CommunicationSpan& span, double previous_done_s) {
  return std::clamp(previous_done_s, span.issued_s, std::max(span.issued_s, span.done_s));
}

}  // namespace meshwright::trial

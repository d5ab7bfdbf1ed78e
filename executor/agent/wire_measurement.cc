// The part of wire.h that is about what workers measured.
#include "executor/agent/message_codec.h"
#include "executor/agent/wire.h"
#include "executor/trial/result_fields.h"

namespace meshwright::agent {

v1::Measurement ToWire(const trial::TrialResult& result) {
  return WriteMessage<v1::Measurement>(result);
}

absl::StatusOr<trial::TrialResult> FromWire(const v1::Measurement& measurement) {
  return ReadMessage<trial::TrialResult>(measurement);
}

}  // namespace meshwright::agent

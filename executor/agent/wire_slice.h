// What a slice trial says as a message, and back (executor/agent/wire.h).
#pragma once

#include "absl/status/statusor.h"
#include "executor/trial/slice_result.h"
#include "meshwright/v1/sweeps.pb.h"

namespace meshwright::agent {

v1::SliceMeasurement ToWire(const trial::SliceResult& slice);
// InvalidArgument naming the field that holds an unknown name.
absl::StatusOr<trial::SliceResult> FromWire(const v1::SliceMeasurement& slice);

}  // namespace meshwright::agent

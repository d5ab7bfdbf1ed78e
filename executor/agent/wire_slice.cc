// The part of wire.h that is about slice trials.
#include "executor/agent/wire_slice.h"

#include <string>

#include "executor/agent/wire_time.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::agent {
namespace {

absl::StatusOr<planner::ActionKind> ReadKind(const std::string& name) {
  const size_t kind = planner::kActionLetters.find(name);
  if (name.size() == 1 && kind != std::string_view::npos) return static_cast<planner::ActionKind>(kind);
  return FieldError("slice.stages.actions.kind", name, "must be F, B, I or W");
}

v1::SliceStage StageToWire(const trial::SliceStage& stage) {
  v1::SliceStage out;
  out.mutable_pipeline_ranks()->Add(stage.pipeline_ranks.begin(), stage.pipeline_ranks.end());
  out.set_measured_rank(stage.measured_rank);
  for (const trial::SliceAction& action : stage.actions) {
    v1::SliceAction* to = out.add_actions();
    to->set_kind(std::string(1, planner::kActionLetters[static_cast<size_t>(action.kind)]));
    to->set_chunk(action.chunk);
    *to->mutable_parts() = TimePartsToWire(action.part);
  }
  out.set_optimizer_s(stage.optimizer_s);
  out.set_dp_behind_s(stage.dp_behind_s);
  out.set_peak_bytes(stage.peak_bytes);
  out.set_estimated_bytes(stage.estimated_bytes);
  return out;
}

absl::StatusOr<trial::SliceStage> StageFromWire(const v1::SliceStage& in) {
  trial::SliceStage stage;
  stage.pipeline_ranks.assign(in.pipeline_ranks().begin(), in.pipeline_ranks().end());
  stage.measured_rank = in.measured_rank();
  for (const v1::SliceAction& action : in.actions()) {
    ASSIGN_OR_RETURN(const planner::ActionKind kind, ReadKind(action.kind()));
    stage.actions.push_back({.kind = kind,
                             .chunk = action.chunk(),
                             .part = TimePartsFromWire(action.parts())});
  }
  stage.optimizer_s = in.optimizer_s();
  stage.dp_behind_s = in.dp_behind_s();
  stage.peak_bytes = in.peak_bytes();
  stage.estimated_bytes = in.estimated_bytes();
  return stage;
}

v1::ChargedOperation OperationToWire(const trial::ChargedOperation& operation) {
  v1::ChargedOperation out;
  out.set_measured_rank(operation.measured_rank);
  out.set_group(operation.group);
  out.set_operation(std::string(trial::CommOperationName(operation.operation)));
  out.set_ranks(operation.ranks);
  out.set_stride(operation.stride);
  out.set_bytes(operation.bytes);
  out.set_calls(operation.calls);
  out.set_seconds(operation.seconds);
  return out;
}

absl::StatusOr<trial::ChargedOperation> OperationFromWire(const v1::ChargedOperation& in) {
  const auto operation = trial::ParseCommOperation(in.operation());
  if (!operation.has_value()) {
    return FieldError("slice.operations.operation", in.operation(), "must be an operation");
  }
  return trial::ChargedOperation{.measured_rank = in.measured_rank(),
                          .group = in.group(),
                          .operation = *operation,
                          .ranks = in.ranks(),
                          .stride = in.stride(),
                          .bytes = in.bytes(),
                          .calls = in.calls(),
                          .seconds = in.seconds()};
}

}  // namespace

v1::SliceMeasurement ToWire(const trial::SliceResult& slice) {
  v1::SliceMeasurement out;
  out.set_cluster(slice.cluster);
  for (const trial::SliceStage& stage : slice.stages) *out.add_stages() = StageToWire(stage);
  for (const trial::ChargedOperation& operation : slice.charged) {
    *out.add_operations() = OperationToWire(operation);
  }
  out.set_hop_s(slice.hop_s);
  *out.mutable_parts() = TimePartsToWire(slice.step);
  return out;
}

absl::StatusOr<trial::SliceResult> FromWire(const v1::SliceMeasurement& in) {
  trial::SliceResult slice;
  slice.cluster = in.cluster();
  for (const v1::SliceStage& stage : in.stages()) {
    ASSIGN_OR_RETURN(trial::SliceStage read, StageFromWire(stage));
    slice.stages.push_back(std::move(read));
  }
  for (const v1::ChargedOperation& operation : in.operations()) {
    ASSIGN_OR_RETURN(trial::ChargedOperation read, OperationFromWire(operation));
    slice.charged.push_back(std::move(read));
  }
  slice.hop_s = in.hop_s();
  slice.step.Add(TimePartsFromWire(in.parts()));
  return slice;
}

}  // namespace meshwright::agent

#include "executor/trial/slice_result.h"

#include <array>
#include <string>
#include <utility>

#include "executor/trial/step_record.h"
#include "planner/base/field_error.h"

namespace meshwright::trial {
namespace {

constexpr std::array kMeasuredOfAction = {planner::TimePart::kCompute};
constexpr std::array kModelledOfAction = {planner::TimePart::kTp, planner::TimePart::kCp,
                                          planner::TimePart::kDp};

template <size_t kCount>
void WriteParts(const planner::TimeParts& from,
                const std::array<planner::TimePart, kCount>& parts, nlohmann::json& to) {
  for (const planner::TimePart part : parts) {
    to[std::string(planner::TimePartKey(part))] = from[part];
  }
}

template <size_t kCount>
void ReadParts(const nlohmann::json& from, const std::array<planner::TimePart, kCount>& parts,
               planner::TimeParts& to) {
  for (const planner::TimePart part : parts) {
    to[part] = from.at(std::string(planner::TimePartKey(part))).get<double>();
  }
}

template <size_t kCount>
nlohmann::json ActionToJson(const SliceAction& action,
                            const std::array<planner::TimePart, kCount>& parts) {
  nlohmann::json json = {{"kind", ToJson(action.kind)}, {"chunk", action.chunk}};
  WriteParts(action.part, parts, json);
  return json;
}

nlohmann::json MeasuredStageToJson(const SliceStage& stage) {
  nlohmann::json actions = nlohmann::json::array();
  for (const SliceAction& action : stage.actions) {
    actions.push_back(ActionToJson(action, kMeasuredOfAction));
  }
  return {{"pipeline_ranks", stage.pipeline_ranks}, {"measured_rank", stage.measured_rank},
          {"actions", std::move(actions)},          {"optimizer_s", stage.optimizer_s},
          {"peak_bytes", stage.peak_bytes},         {"estimated_bytes", stage.estimated_bytes}};
}

nlohmann::json ModelledStageToJson(const SliceStage& stage) {
  nlohmann::json actions = nlohmann::json::array();
  for (const SliceAction& action : stage.actions) {
    actions.push_back(ActionToJson(action, kModelledOfAction));
  }
  return {{"measured_rank", stage.measured_rank},
          {"actions", std::move(actions)},
          {"dp_behind_s", stage.dp_behind_s}};
}

nlohmann::json OperationToJson(const ChargedOperation& operation) {
  return {{"measured_rank", operation.measured_rank},
          {"group", operation.group},
          {"operation", std::string(CommOperationName(operation.operation))},
          {"ranks", operation.ranks},
          {"stride", operation.stride},
          {"bytes", operation.bytes},
          {"calls", operation.calls},
          {"seconds", operation.seconds}};
}

ChargedOperation OperationFromJson(const nlohmann::json& json) {
  return {.measured_rank = json.at("measured_rank"),
          .group = json.at("group"),
          .operation = CommOperationFromJson(json.at("operation")),
          .ranks = json.at("ranks"),
          .stride = json.at("stride"),
          .bytes = json.at("bytes"),
          .calls = json.at("calls"),
          .seconds = json.at("seconds")};
}

// The two halves list the same stages and actions in the same order.
SliceStage StageFromJson(const nlohmann::json& measured, const nlohmann::json& modelled) {
  SliceStage stage;
  stage.pipeline_ranks = measured.at("pipeline_ranks").get<std::vector<int32_t>>();
  stage.measured_rank = measured.at("measured_rank");
  stage.optimizer_s = measured.at("optimizer_s");
  stage.peak_bytes = measured.at("peak_bytes");
  stage.estimated_bytes = measured.at("estimated_bytes");
  stage.dp_behind_s = modelled.at("dp_behind_s");
  const nlohmann::json& actions = measured.at("actions");
  for (size_t i = 0; i < actions.size(); ++i) {
    SliceAction& action = stage.actions.emplace_back();
    action.kind = ActionKindFromJson(actions[i].at("kind"));
    action.chunk = actions[i].at("chunk");
    ReadParts(actions[i], kMeasuredOfAction, action.part);
    ReadParts(modelled.at("actions").at(i), kModelledOfAction, action.part);
  }
  return stage;
}

SliceResult Parse(const nlohmann::json& json) {
  const nlohmann::json& measured = json.at("measured");
  const nlohmann::json& modelled = json.at("modelled");
  SliceResult slice;
  slice.cluster = modelled.at("cluster");
  const nlohmann::json& stages = measured.at("stages");
  for (size_t i = 0; i < stages.size(); ++i) {
    slice.stages.push_back(StageFromJson(stages[i], modelled.at("stages").at(i)));
  }
  for (const nlohmann::json& operation : modelled.at("operations")) {
    slice.charged.push_back(OperationFromJson(operation));
  }
  slice.hop_s = modelled.at("hop_s");
  ReadParts(measured, planner::kMeasuredParts, slice.step);
  ReadParts(modelled, planner::kModelledParts, slice.step);
  ReadParts(json.at("simulated"), planner::kSimulatedParts, slice.step);
  return slice;
}

}  // namespace

nlohmann::json ToJson(const SliceResult& slice) {
  nlohmann::json measured = {{"stages", nlohmann::json::array()}};
  nlohmann::json modelled = {{"cluster", slice.cluster},
                             {"hop_s", slice.hop_s},
                             {"stages", nlohmann::json::array()},
                             {"operations", nlohmann::json::array()}};
  nlohmann::json simulated = {{"step_s", slice.step.step_s()}};
  for (const SliceStage& stage : slice.stages) {
    measured["stages"].push_back(MeasuredStageToJson(stage));
    modelled["stages"].push_back(ModelledStageToJson(stage));
  }
  for (const ChargedOperation& operation : slice.charged) {
    modelled["operations"].push_back(OperationToJson(operation));
  }
  WriteParts(slice.step, planner::kMeasuredParts, measured);
  WriteParts(slice.step, planner::kModelledParts, modelled);
  WriteParts(slice.step, planner::kSimulatedParts, simulated);
  return {{"measured", std::move(measured)},
          {"modelled", std::move(modelled)},
          {"simulated", std::move(simulated)}};
}

absl::StatusOr<SliceResult> SliceResultFromJson(const nlohmann::json& json) {
  try {
    return Parse(json);
  } catch (const nlohmann::json::exception& error) {
    return FieldError("slice", error.what(), "expected what a slice trial says");
  }
}

}  // namespace meshwright::trial

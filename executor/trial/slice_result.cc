#include "executor/trial/slice_result.h"

#include <utility>

#include "executor/trial/step_record.h"
#include "planner/base/field_error.h"

namespace meshwright::trial {
namespace {

nlohmann::json MeasuredStageToJson(const SliceStage& stage) {
  nlohmann::json actions = nlohmann::json::array();
  for (const SliceAction& action : stage.actions) {
    actions.push_back({{"kind", ToJson(action.kind)},
                       {"chunk", action.chunk},
                       {"compute_s", action.part.compute_s}});
  }
  return {{"pipeline_ranks", stage.pipeline_ranks}, {"measured_rank", stage.measured_rank},
          {"actions", std::move(actions)},          {"optimizer_s", stage.optimizer_s},
          {"peak_bytes", stage.peak_bytes},         {"estimated_bytes", stage.estimated_bytes}};
}

nlohmann::json ModelledStageToJson(const SliceStage& stage) {
  nlohmann::json actions = nlohmann::json::array();
  for (const SliceAction& action : stage.actions) {
    actions.push_back({{"kind", ToJson(action.kind)},
                       {"chunk", action.chunk},
                       {"tp_s", action.part.tp_s},
                       {"cp_s", action.part.cp_s},
                       {"dp_s", action.part.dp_s}});
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
    const nlohmann::json& charged = modelled.at("actions").at(i);
    stage.actions.push_back({.kind = ActionKindFromJson(actions[i].at("kind")),
                             .chunk = actions[i].at("chunk"),
                             .part = {.compute_s = actions[i].at("compute_s"),
                                      .tp_s = charged.at("tp_s"),
                                      .cp_s = charged.at("cp_s"),
                                      .dp_s = charged.at("dp_s")}});
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
  slice.step.compute_s = measured.at("compute_s");
  slice.step.optimizer_s = measured.at("optimizer_s");
  slice.step.tp_s = modelled.at("tp_s");
  slice.step.cp_s = modelled.at("cp_s");
  slice.step.pp_s = modelled.at("pp_s");
  slice.step.dp_s = modelled.at("dp_s");
  slice.step.straggler_s = modelled.at("straggler_s");
  slice.step.bubble_s = json.at("simulated").at("bubble_s");
  return slice;
}

}  // namespace

nlohmann::json ToJson(const SliceResult& slice) {
  nlohmann::json measured = nlohmann::json::array();
  nlohmann::json modelled = nlohmann::json::array();
  for (const SliceStage& stage : slice.stages) {
    measured.push_back(MeasuredStageToJson(stage));
    modelled.push_back(ModelledStageToJson(stage));
  }
  nlohmann::json operations = nlohmann::json::array();
  for (const ChargedOperation& operation : slice.charged) {
    operations.push_back(OperationToJson(operation));
  }
  return {{"measured",
           {{"compute_s", slice.step.compute_s},
            {"optimizer_s", slice.step.optimizer_s},
            {"stages", std::move(measured)}}},
          {"modelled",
           {{"cluster", slice.cluster},
            {"tp_s", slice.step.tp_s},
            {"cp_s", slice.step.cp_s},
            {"pp_s", slice.step.pp_s},
            {"dp_s", slice.step.dp_s},
            {"straggler_s", slice.step.straggler_s},
            {"hop_s", slice.hop_s},
            {"stages", std::move(modelled)},
            {"operations", std::move(operations)}}},
          {"simulated", {{"bubble_s", slice.step.bubble_s}, {"step_s", slice.step.step_s()}}}};
}

absl::StatusOr<SliceResult> SliceResultFromJson(const nlohmann::json& json) {
  try {
    return Parse(json);
  } catch (const nlohmann::json::exception& error) {
    return FieldError("slice", error.what(), "expected what a slice trial says");
  }
}

}  // namespace meshwright::trial

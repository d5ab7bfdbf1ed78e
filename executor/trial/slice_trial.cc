#include "executor/trial/slice_trial.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "executor/trial/comm_operation.h"
#include "executor/trial/step_record.h"
#include "planner/cost/collective.h"
#include "planner/cost/step_shape.h"
#include "planner/layout/stage_partition.h"
#include "planner/schedule/placement.h"
#include "planner/spec/parameters.h"

namespace meshwright {
namespace {

using nlohmann::ordered_json;

double Median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What a TP collective takes on the cluster.
double ChargedTime(const StepShape& step, const CommunicationSpan& span) {
  const auto bytes = static_cast<double>(span.bytes);
  switch (span.operation) {
    case CommOperation::kAllReduce:
      return AllReduceTime(step.network, step.tp_group, bytes);
    case CommOperation::kAllGather:
      return AllGatherTime(step.network, step.tp_group, bytes);
    case CommOperation::kReduceScatter:
      return ReduceScatterTime(step.network, step.tp_group, bytes);
    default:
      return 0.0;
  }
}

// Medians over the micro-batches of one chunk.
struct ActionTimes {
  std::vector<double> compute_s;
  std::vector<double> tp_s;
};

using ActionKey = std::pair<int32_t, ActionKind>;  // chunk

std::map<ActionKey, ActionTimes> TimesOf(const StepShape& step, const StepRecord& record) {
  std::map<ActionKey, ActionTimes> times;
  auto span = record.communication.begin();
  for (const ActionSpan& action : record.actions) {
    double tp_s = 0.0;
    for (; span != record.communication.end() && span->issued_s < action.time.end_s; ++span) {
      if (span->issued_s >= action.time.begin_s && span->group == "tp") {
        tp_s += ChargedTime(step, *span);
      }
    }
    ActionTimes& of_kind = times[{action.action.chunk, action.action.kind}];
    of_kind.compute_s.push_back(action.time.duration_s() - action.communication_s);
    of_kind.tp_s.push_back(tp_s);
  }
  return times;
}

std::vector<MeasuredStage> ChunksOf(const StepShape& step, const StepRecord& record) {
  std::vector<MeasuredStage> chunks(static_cast<size_t>(step.layout.vpp));
  for (const auto& [key, times] : TimesOf(step, record)) {
    MeasuredStage& chunk = chunks[static_cast<size_t>(key.first)];
    const double compute_s = Median(times.compute_s);
    const double tp_s = Median(times.tp_s);
    switch (key.second) {
      case ActionKind::kForward:
        chunk.compute.forward_s = compute_s;
        chunk.tp_forward_s = tp_s;
        break;
      case ActionKind::kBackward:
      case ActionKind::kBackwardInput:
        chunk.compute.input_gradient_s = compute_s;
        chunk.tp_backward_s += tp_s;
        break;
      case ActionKind::kBackwardWeight:
        chunk.compute.weight_gradient_s = compute_s;
        chunk.tp_backward_s += tp_s;
        break;
    }
  }
  return chunks;
}

// The measured pipeline ranks' chunks, in the order of the model's stages.
MeasuredStep Together(const Layout& layout, const std::vector<SliceStage>& slices) {
  MeasuredStep measured;
  measured.stages.resize(static_cast<size_t>(StageCount(layout)));
  for (const SliceStage& slice : slices) {
    measured.optimizer_s = std::max(measured.optimizer_s, slice.optimizer_s);
    for (const int32_t rank : slice.stands_for) {
      for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
        measured.stages[static_cast<size_t>(StageOfChunk(layout, rank, chunk))] =
            slice.chunks[static_cast<size_t>(chunk)];
      }
    }
  }
  return measured;
}

// Runs the first of `pipeline_ranks`. Returns nothing, and says why in `result`, when it fails.
std::optional<SliceStage> RunSlice(TrialPlan plan, const StepShape& step,
                                   TrialRunnerOptions options,
                                   const std::vector<int32_t>& pipeline_ranks,
                                   SliceResult& result) {
  SliceStage slice = {.pipeline_rank = pipeline_ranks.front(), .stands_for = pipeline_ranks};
  plan.slice_pipeline_rank = slice.pipeline_rank;
  plan.trace = true;
  std::optional<StepRecord> record;
  options.trace = [&](const std::vector<RankTrace>& ranks) { record = ranks.front().record; };
  const TrialResult trial = RunTrial(plan, options);
  result.outcome = trial.outcome;
  result.message = trial.message;
  result.worker_version = trial.worker_version;
  result.host = trial.host;
  if (trial.outcome != Outcome::kOk || !record.has_value()) return std::nullopt;
  result.measured_peak_flops = trial.measured_peak_flops;
  slice.chunks = ChunksOf(step, *record);
  slice.optimizer_s = record->phases.of(Phase::kOptimizer);
  slice.peak_bytes = trial.ranks.front().peak_bytes;
  slice.estimated_bytes = trial.ranks.front().estimated_bytes;
  return slice;
}

ordered_json ToJson(const MeasuredStage& chunk) {
  return {{"forward_s", chunk.compute.forward_s},
          {"input_gradient_s", chunk.compute.input_gradient_s},
          {"weight_gradient_s", chunk.compute.weight_gradient_s}};
}

ordered_json ToJson(const SliceStage& slice) {
  ordered_json chunks = ordered_json::array();
  for (const MeasuredStage& chunk : slice.chunks) chunks.push_back(ToJson(chunk));
  return {{"pipeline_rank", slice.pipeline_rank}, {"stands_for", slice.stands_for},
          {"micro_batch", std::move(chunks)},     {"optimizer_s", slice.optimizer_s},
          {"peak_bytes", slice.peak_bytes},       {"estimated_bytes", slice.estimated_bytes}};
}

}  // namespace

std::vector<std::vector<int32_t>> DistinctPipelineRanks(const ModelSpec& model,
                                                        const Layout& layout) {
  using Contents = std::vector<std::tuple<int64_t, bool, bool>>;
  std::map<Contents, std::vector<int32_t>> by_contents;
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    Contents contents;
    for (int32_t chunk = 0; chunk < layout.vpp; ++chunk) {
      const StageLayers layers =
          StageOf(model, layout, StagePartition::kEqual, StageOfChunk(layout, rank, chunk));
      contents.emplace_back(layers.layer_count, layers.has_embedding, layers.has_head);
    }
    by_contents[contents].push_back(rank);
  }
  std::vector<std::vector<int32_t>> distinct;
  for (auto& [contents, ranks] : by_contents) distinct.push_back(std::move(ranks));
  std::sort(distinct.begin(), distinct.end());
  return distinct;
}

SliceResult RunSliceTrial(const TrialPlan& plan, const EstimateContext& context,
                          const TrialRunnerOptions& options) {
  SliceResult result;
  const StepShape step(context, plan.layout);
  TrialPlan slice_plan = plan;
  for (const std::vector<int32_t>& ranks : DistinctPipelineRanks(plan.model, plan.layout)) {
    auto slice = RunSlice(slice_plan, step, options, ranks, result);
    if (!slice.has_value()) return result;
    slice_plan.known_peak_flops = result.measured_peak_flops;
    result.stages.push_back(*std::move(slice));
  }
  const absl::StatusOr<ComposedStep> composed =
      ComposeStep(context, plan.layout, Together(plan.layout, result.stages));
  if (!composed.ok()) {
    result.outcome = Outcome::kFailed;
    result.message = std::string(composed.status().message());
    return result;
  }
  result.step = *composed;
  result.mfu =
      PalmStepFlops(plan.model, plan.training) / (result.step.step_s * result.measured_peak_flops *
                                                  static_cast<double>(plan.layout.devices()));
  return result;
}

ordered_json ToJson(const SliceResult& result) {
  ordered_json stages = ordered_json::array();
  for (const SliceStage& stage : result.stages) stages.push_back(ToJson(stage));
  return {{"outcome", std::string(OutcomeName(result.outcome))},
          {"message", result.message},
          {"step_s", result.step.step_s},
          {"mfu", result.mfu},
          {"measured",
           {{"peak_flops", result.measured_peak_flops},
            {"stages", std::move(stages)},
            {"compute_s", result.step.compute_s},
            {"optimizer_s", result.step.optimizer_s}}},
          {"modelled",
           {{"tp_s", result.step.tp_s},
            {"cp_s", result.step.cp_s},
            {"bubble_s", result.step.bubble_s},
            {"dp_s", result.step.dp_s},
            {"straggler_s", result.step.straggler_s}}},
          {"worker_version", result.worker_version},
          {"host", result.host}};
}

}  // namespace meshwright

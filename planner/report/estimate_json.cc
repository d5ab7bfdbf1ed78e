#include "planner/report/estimate_json.h"

namespace meshwright::planner {

using nlohmann::ordered_json;

namespace {

ordered_json AxesToJson(const Layout& l) {
  ordered_json axes;
  for (const AxisField& axis : kAxes) axes[std::string(axis.name)] = l.*axis.size;
  axes["mb"] = l.micro_batch;
  axes["vpp"] = l.vpp;
  axes["zero"] = l.zero;
  axes["sp"] = l.sequence_parallel ? 1 : 0;
  axes["rc"] = std::string(RecomputeName(l.recompute));
  axes["sched"] = std::string(ScheduleName(l.schedule));
  return axes;
}

ordered_json TimeToJson(const TimeEstimate& time) {
  ordered_json object;
  for (const TimePart part : kTimeParts) object[std::string(TimePartKey(part))] = time[part];
  object["step_s"] = time.step_s();
  return object;
}

}  // namespace

ordered_json MemoryToJson(const MemoryEstimate& memory, double fraction_of_device) {
  return {{"weights_bytes", memory.weights_bytes},
          {"gradients_bytes", memory.gradients_bytes},
          {"optimizer_bytes", memory.optimizer_bytes},
          {"activations_bytes", memory.activations_bytes},
          {"loss_bytes", memory.loss_bytes},
          {"workspace_bytes", memory.workspace_bytes},
          {"fragmentation_bytes", memory.fragmentation_bytes},
          {"overhead_bytes", memory.overhead_bytes},
          {"total_bytes", memory.total_bytes()},
          {"fraction_of_device", fraction_of_device},
          {"pipeline_rank", memory.pipeline_rank}};
}

ordered_json LayoutToJson(const Layout& layout, const Estimate& estimate) {
  return {{"layout", FormatLayout(layout)},
          {"axes", AxesToJson(layout)},
          {"memory", MemoryToJson(estimate.memory, estimate.fraction_of_device)},
          {"time", TimeToJson(estimate.time)},
          {"mfu", estimate.mfu},
          {"mfu_causal", estimate.mfu_causal},
          {"tokens_per_s", estimate.tokens_per_s},
          {"tflops_per_gpu", estimate.tflops_per_gpu},
          {"tflops_per_gpu_causal", estimate.tflops_per_gpu_causal},
          {"tokens_per_s_per_gpu", estimate.tokens_per_s_per_gpu},
          {"oom_probability", estimate.oom_probability},
          {"step_low_s", estimate.step_low_s},
          {"step_high_s", estimate.step_high_s}};
}

ordered_json FunnelToJson(const Funnel& funnel) {
  ordered_json by_rule = ordered_json::object();
  for (size_t i = 0; i < funnel.invalid_by_rule.size(); ++i) {
    if (funnel.invalid_by_rule[i] == 0) continue;
    by_rule[std::string(RuleName(static_cast<Rule>(i)))] = funnel.invalid_by_rule[i];
  }
  return {{"enumerated", funnel.enumerated},
          {"invalid", funnel.invalid},
          {"memory", funnel.memory},
          {"evaluated", funnel.evaluated},
          {"invalid_by_rule", by_rule}};
}

}  // namespace meshwright::planner
